// The `python` of the emulated environment: a program of the host, which therefore is not emulated.
//
// It becomes the emulated Python, except for AnyMetal's helper processes: those leave the emulated
// root and become a Python of the host with native_helper.py. Both have the same files as standard
// input and so on, and the same process number: who starts a helper sees no difference but speed.
//
// CONFIGURATION has four lines: the host's root as it is seen from here, and there a Python,
// native_helper.py, and what that has to know of the emulated machine.

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char configuration[] = CONFIGURATION;

static int is_helper(int count, char **words) {
  static const char end[] = "/anymetal/runtime/helper_main.py";
  const char *last = words[count - 1];
  size_t length = strlen(last), wanted = sizeof end - 1;
  return length >= wanted && strcmp(last + length - wanted, end) == 0;
}

static int become_native(char *script) {
  static char lines[4][4096];
  FILE *file = fopen(configuration, "re");
  for (int i = 0; i < 4; ++i) {
    if (!file || !fgets(lines[i], sizeof lines[i], file)) {
      fprintf(stderr, "%s cannot be read\n", configuration);
      return 127;
    }
    lines[i][strcspn(lines[i], "\n")] = 0;
  }
  fclose(file);
  if (chroot(lines[0]) == 0 && chdir("/") == 0) {
    execl(lines[1], lines[1], "-I", lines[2], lines[3], script, (char *)0);
  }
  perror(lines[1]);
  return 127;
}

int main(int count, char **words) {
  if (is_helper(count, words)) return become_native(words[count - 1]);
  words[0] = PYTHON;  // by which Python finds the environment, and names itself to children
  execv(REAL, words);
  perror(REAL);
  return 127;
}
