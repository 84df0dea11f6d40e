// What os_log prints: takes apart the words that a thread has packed (frontend's logging.h) and
// writes one line for each. A line is one write, so lines of different threads never mix.
//
// Nothing in a format is trusted: each conversion is put together anew for snprintf, with a value
// of the type that it wants.

using size_t = decltype(sizeof 0);
using int64_t = long;
using uint32_t = unsigned int;
using uint64_t = unsigned long;

extern "C" int snprintf(char*, size_t, const char*, ...);
struct Wait {
  int file;
  short wanted, found;
};
extern "C" int64_t write(int, const void*, size_t);
extern "C" int poll(Wait*, unsigned long, int milliseconds);
extern "C" int getpid();
extern "C" int* __errno_location();

constexpr int STANDARD_ERROR = 2, INTERRUPTED = 4, TRY_AGAIN = 11;  // EINTR, EAGAIN
constexpr short WRITABLE = 4;                                       // POLLOUT
constexpr int GLANCE = 10;               // milliseconds between two looks at the cancel flag
constexpr uint32_t LONGEST_LINE = 4000;  // a pipe takes 4096 bytes at once
constexpr uint32_t WIDEST = 200;         // field width; precision is kept below as well

struct Line {
  char text[LONGEST_LINE + 1];  // one more for the end of the line
  uint32_t length;

  void put(char letter) {
    if (length < LONGEST_LINE) text[length++] = letter;
  }
  void put(const char* from, const char* end) {
    while (from < end) put(*from++);
  }
  void put(const char* string) {
    while (*string) put(*string++);
  }
  // The result of snprintf: what it wrote, without what had no room.
  void written(int count) {
    uint32_t room = LONGEST_LINE - length;
    if (count > 0) length += static_cast<uint32_t>(count) < room ? count : room;
  }
  char* end() { return text + length; }
  size_t room() const { return LONGEST_LINE - length + 1; }
};

// The arguments of one call, one after the other.
struct Arguments {
  const uint64_t* word;
  uint64_t left;

  uint32_t components() const { return word[0] >> 16; }
  void drop() {
    word += 1 + components();
    --left;
  }
};

struct Value {
  char kind;  // p, f, i, u
  uint32_t bytes;
  uint64_t bits;

  double number() const {
    if (kind == 'f') return __builtin_bit_cast(float, static_cast<uint32_t>(bits));
    if (kind == 'i') return static_cast<double>(static_cast<int64_t>(bits));
    return static_cast<double>(bits);
  }
  int64_t integer() const {
    if (kind != 'f') return static_cast<int64_t>(bits);
    double value = number();
    return value > -9e18 && value < 9e18 ? static_cast<int64_t>(value) : 0;
  }
};

// `%[flags][width][.precision][v components][length]letter`
struct Conversion {
  char flags[8];
  uint32_t width, precision, components;
  bool has_precision;
  char length;  // 'b' for hh, 'h', 'l' for l and ll, or 0 for int (also hl, of vectors)
  char letter;

  bool is(const char* letters) const {
    while (*letters && *letters != letter) ++letters;
    return *letters != 0;
  }
};

static const char* read_number(const char* at, uint32_t* number) {
  for (*number = 0; *at >= '0' && *at <= '9'; ++at) {
    *number = *number * 10 + (*at - '0');
    if (*number > WIDEST) *number = WIDEST;
  }
  return at;
}

// Reads what is behind the %; returns where the text goes on.
static const char* read(const char* at, Conversion* c) {
  *c = Conversion{};
  auto is_flag = [](char letter) {
    return letter == '-' || letter == '+' || letter == ' ' || letter == '#' || letter == '0';
  };
  for (uint32_t count = 0; is_flag(*at); ++at) {
    if (count < 5) c->flags[count++] = *at;
  }
  at = read_number(at, &c->width);
  c->has_precision = *at == '.';
  if (c->has_precision) at = read_number(at + 1, &c->precision);
  if (*at == 'v') at = read_number(at + 1, &c->components);
  if (at[0] == 'h' && at[1] == 'h') {
    c->length = 'b', at += 2;
  } else if (at[0] == 'h' && at[1] == 'l') {
    at += 2;
  } else if (*at == 'h' || *at == 'l') {
    for (c->length = *at; *at == c->length;) ++at;
  }
  c->letter = *at;
  return *at ? at + 1 : at;
}

// An integer as wide as the conversion says; without a length, as wide as the value itself is.
static int64_t sized(const Conversion& c, const Value& value, bool is_signed) {
  int64_t number = value.integer();
  uint32_t bits = c.length || value.bytes > 4 ? 64 : 32;
  if (c.length == 'b') bits = 8;
  if (c.length == 'h') bits = 16;
  if (bits == 64) return number;
  uint64_t rest = static_cast<uint64_t>(number) << (64 - bits);
  return is_signed ? static_cast<int64_t>(rest) >> (64 - bits)
                   : static_cast<int64_t>(rest >> (64 - bits));
}

static void print(Line* line, const Conversion& c, const Value& value) {
  char spec[40];
  const char* length = c.is("diuoxX") ? "ll" : "";
  if (c.has_precision) {
    snprintf(spec, sizeof spec, "%%%s%.0u.%u%s%c", c.flags, c.width, c.precision, length, c.letter);
  } else {
    snprintf(spec, sizeof spec, "%%%s%.0u%s%c", c.flags, c.width, length, c.letter);
  }
  int count;
  if (c.is("di")) {
    count = snprintf(line->end(), line->room(), spec, sized(c, value, true));
  } else if (c.is("uoxX")) {
    count = snprintf(line->end(), line->room(), spec, sized(c, value, false));
  } else if (c.letter == 'c') {
    count = snprintf(line->end(), line->room(), spec, static_cast<int>(value.integer() & 0xff));
  } else if (c.letter == 'p') {
    count = snprintf(line->end(), line->room(), spec, reinterpret_cast<void*>(value.bits));
  } else {
    count = snprintf(line->end(), line->room(), spec, value.number());
  }
  line->written(count);
}

// One conversion with the next argument. A vector is printed whole, with commas.
static void convert(Line* line, const Conversion& c, Arguments* arguments) {
  if (!arguments->left) return line->put("(missing)");
  uint32_t count = arguments->components();
  if (c.components && c.components < count) count = c.components;
  for (uint32_t i = 0; i < count; ++i) {
    if (i) line->put(',');
    uint64_t head = arguments->word[0], bits = arguments->word[1 + i];
    print(line, c, {static_cast<char>(head), static_cast<uint32_t>(head >> 8 & 0xff), bits});
  }
  arguments->drop();
}

static void message(Line* line, const char* format, Arguments arguments) {
  while (*format) {
    const char* at = format++;
    if (*at != '%') {
      line->put(*at);
    } else if (*format == '%') {
      line->put(*format++);
    } else {
      Conversion c;
      format = read(format, &c);
      if (c.letter && c.is("diuoxXcpfFeEgGaA")) {
        convert(line, c, &arguments);
      } else {
        line->put(at, format);
      }
    }
  }
}

// What stands in front of a message: `[kernel thread (3,0,0) error subsystem:category] `.
static void heading(Line* line, const char* kernel, const uint64_t* record) {
  static constexpr const char* TYPES[] = {"", " debug", " info", " error", " fault"};
  uint32_t type = record[4] >> 32;
  line->written(snprintf(line->end(), line->room(), "[%.200s thread (%u,%u,%u)%s", kernel,
                         static_cast<uint32_t>(record[3]), static_cast<uint32_t>(record[3] >> 32),
                         static_cast<uint32_t>(record[4]), type < 5 ? TYPES[type] : ""));
  const char* subsystem = reinterpret_cast<const char*>(record[1]);
  const char* category = reinterpret_cast<const char*>(record[2]);
  if (subsystem && category) {
    line->written(snprintf(line->end(), line->room(), " %.200s:%.200s", subsystem, category));
  }
  line->put("] ");
}

// The process whose thread prints, or 0. One at a time: two could find room for one line in a pipe,
// and one of them would then wait for somebody to read, which no cancel flag ends. A child may
// inherit the mark of a thread that it does not have.
static int printing;

static bool begin_printing(const volatile int* cancel) {
  const int me = getpid();
  for (;;) {
    int found = __atomic_load_n(&printing, __ATOMIC_RELAXED);
    if (found != me && __atomic_compare_exchange_n(&printing, &found, me, false, __ATOMIC_ACQUIRE,
                                                   __ATOMIC_RELAXED)) {
      return true;
    }
    if (*cancel) return false;
    poll(nullptr, 0, 1);
  }
}

// Writes when there is room for it. A launch that is stopped does not wait for that.
static void write_out(const char* at, const char* end, const volatile int* cancel) {
  if (!begin_printing(cancel)) return;
  while (at < end) {
    Wait room{STANDARD_ERROR, WRITABLE, 0};
    if (poll(&room, 1, GLANCE) <= 0) {
      if (*cancel) break;
      continue;
    }
    int64_t count = write(STANDARD_ERROR, at, end - at);
    if (count > 0) {
      at += count;
    } else if (*__errno_location() != INTERRUPTED && *__errno_location() != TRY_AGAIN) {
      break;
    } else if (*cancel) {
      break;
    }
  }
  __atomic_store_n(&printing, 0, __ATOMIC_RELEASE);
}

// Prints for each lane whose bit is set; `records` has an address for every lane.
extern "C" void am_log(const char* kernel, const uint64_t* const* records, uint32_t lanes,
                       const volatile int* cancel) {
  for (; lanes; lanes &= lanes - 1) {
    const uint64_t* record = records[__builtin_ctz(lanes)];
    Line line;
    line.length = 0;
    heading(&line, kernel, record);
    message(&line, reinterpret_cast<const char*>(record[0]), {record + 6, record[5]});
    while (line.length && line.text[line.length - 1] == '\n') --line.length;  // there is always one
    line.text[line.length++] = '\n';
    write_out(line.text, line.end(), cancel);
  }
}
