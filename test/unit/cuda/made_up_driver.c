// Stands in for the CUDA driver: MADE_UP_GPUS says how many GPUs it has, MADE_UP_ERROR with which
// code it starts, MADE_UP_VERSION for which CUDA it is.
#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

static int number(const char *name, int otherwise) {
  const char *text = getenv(name);
  return text ? atoi(text) : otherwise;
}

EXPORT int cuInit(unsigned flags) { return flags == 0 ? number("MADE_UP_ERROR", 0) : 1; }

EXPORT int cuDriverGetVersion(int *version) {
  *version = number("MADE_UP_VERSION", 99000);
  return 0;
}

EXPORT int cuDeviceGetCount(int *count) {
  *count = number("MADE_UP_GPUS", 0);
  return 0;
}

EXPORT int cuDeviceGet(int *device, int index) {
  *device = index + 40;
  return 0;
}

EXPORT int cuDeviceGetName(char *name, int size, int device) {
  snprintf(name, (size_t)size, "Made up %d", device);
  return number("MADE_UP_BROKEN", -1) == device ? 999 : 0;
}

EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device) {
  *bytes = ((size_t)device) << 30;
  return 0;
}

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device) {
  (void)device;
  *value = attribute == 75 ? 9 : attribute == 76 ? 1 : -1;
  return 0;
}

EXPORT int cuGetErrorString(int code, const char **text) {
  *text = code == 999 ? "an unknown error" : 0;
  return code == 999 ? 0 : 1;
}
