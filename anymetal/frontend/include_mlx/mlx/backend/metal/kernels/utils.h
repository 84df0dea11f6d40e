// In the prelude already: see anymetal/umbrella.h.
