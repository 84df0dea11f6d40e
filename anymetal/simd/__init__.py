"""The vectorizer: the thread program of 32 threads as one program over SIMD lanes."""
