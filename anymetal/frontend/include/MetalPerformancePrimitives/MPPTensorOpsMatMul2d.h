#include "../anymetal/tensor_ops.h"
