// Loops over raw float32 buffers, compiled for several instruction sets: what planned steps are
// made of. Every function is a pure function of its arguments on one instruction set: no
// allocation, no threads, no dependence on addresses beyond what they hold.
#pragma once

#include <cstdint>

#include "activation/activation_type.h"

namespace hopper {

// C[i][j] (+)= sum over s < segments, k < length of A[i][s][k] * B[s][k][j], then bias and relu.
// A[i][s][k] lies at a + i * a_row + s * a_segment + k * a_step, B[s][k][j] at
// b + s * b_segment + k * b_row + j * b_step, where one of the last two is 1, and C[i][j] at
// c + i * c_row + j. Strides are in floats.
//
// A matrix product has one segment. A convolution over rows of pixels has one for each row of
// its window, within which the pixels and their channels are contiguous.
struct GemmArgs {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t segments = 1;
  int64_t length = 0;
  const float* a = nullptr;
  int64_t a_row = 0;
  int64_t a_segment = 0;
  int64_t a_step = 1;
  const float* b = nullptr;
  int64_t b_segment = 0;
  int64_t b_row = 0;
  int64_t b_step = 1;
  // By pack_right() from an operand of one segment: b is all of it, and a_step 1.
  bool b_packed = false;
  float* c = nullptr;
  int64_t c_row = 0;
  bool accumulate = false;
  const float* bias = nullptr;  // a value for each column, or null
  bool relu = false;
};

// Windows over images [height][width][channels]; cells outside take no part.
struct PoolArgs {
  int64_t images = 0;
  int64_t height = 0, width = 0, channels = 0;
  int64_t out_height = 0, out_width = 0;
  int64_t window_height = 0, window_width = 0;
  int64_t stride_height = 0, stride_width = 0;
  int64_t before_height = 0, before_width = 0;  // padding cells before the first row and column
};

// A convolution of each channel by itself over images [height][width][channels], with a kernel
// [kernel height][kernel width][channels]. Cells outside take no part.
struct DepthwiseArgs {
  int64_t images = 0;
  int64_t height = 0, width = 0, channels = 0;
  int64_t out_height = 0, out_width = 0;
  int64_t kernel_height = 0, kernel_width = 0;
  int64_t stride_height = 1, stride_width = 1;
  int64_t dilation_height = 1, dilation_width = 1;
  int64_t before_height = 0, before_width = 0;  // padding cells before the first row and column
  // The channels that the gradient of the kernel is wanted for.
  int64_t first_channel = 0, some_channels = 0;
};

// Tiles of the outputs of a convolution with windows of 3 x 3, numbered through the images, their
// rows and their columns: those from `first` to first + count. The images [height][width][channels]
// are the inputs or the outputs, as the function says; the channels of the transformed tiles' cells
// lie at tile * `tile` + cell * `cell`, in floats.
struct TileArgs {
  int64_t height = 0, width = 0, channels = 0;
  int64_t rows = 0, columns = 0;  // tiles in an image
  int64_t first = 0, count = 0;
  int64_t before_height = 0, before_width = 0;  // padding cells, of inputs
  int64_t tile = 0, cell = 0;
};

// A step of an LSTM with tanh and sigmoid: rows of `units`.
struct LstmArgs {
  int64_t rows = 0;
  int64_t units = 0;
  float* gates =
      nullptr;  // [rows][4 * units] of i, f, c, o: sums, which become what they gate with
  const float* c_before = nullptr;  // null: 0
  float* c = nullptr;
  float* h = nullptr;
};

// A step of a GRU with tanh and sigmoid that resets after the product: rows of `units`.
struct GruArgs {
  int64_t rows = 0;
  int64_t units = 0;
  float* gates = nullptr;           // [rows][3 * units] of z, r, h: sums of inputs, as an LSTM's
  float* inner = nullptr;           // [rows][3 * units]: the sums of the state
  const float* h_before = nullptr;  // null: 0
  float* h = nullptr;
};

// Rows less their mean, divided by the root of their variance.
struct RowNormArgs {
  int64_t rows = 0;
  int64_t columns = 0;
  float epsilon = 0.0F;
  const float* x = nullptr;
  const float* gamma = nullptr;  // null: 1
  const float* beta = nullptr;   // null: 0
  float* moments = nullptr;      // [rows][2]: mean and 1 / root, left by the forward pass
};

// Rows of a normalization, z = x * factor + offset of each column, between `least` and `most`.
struct NormArgs {
  int64_t rows = 0;
  int64_t columns = 0;
  const float* x = nullptr;
  const float* factor = nullptr;
  const float* offset = nullptr;
  bool clipped = false;  // z is cut; the gradient passes between the two alone
  float least = 0.0F, most = 0.0F;
};

// What a packed operand of so many terms and columns takes, whatever the instruction set.
constexpr int64_t PackedFloats(int64_t length, int64_t columns) {
  return length * ((columns + 15) / 16 * 16);
}

struct Kernels {
  const char* name;

  void (*gemm)(const GemmArgs& args);
  // The right operand as gemm() reads it, for products that share it: PackedFloats() of them.
  void (*pack_right)(const GemmArgs& args, float* to);
  // out[c][r] = in[r][c]
  void (*transpose)(const float* in, int64_t rows, int64_t columns, float* out);
  // sums[j] = sum over i of x[i][j], in float32 within blocks of rows and between blocks
  void (*column_sums)(const float* x, int64_t rows, int64_t columns, float* sums);

  // sums[j] = sum over i of (x[i][j] - mean[j]) * (y[i][j] - shift[j]); shift may be null for 0
  void (*column_products)(const float* x, const float* mean, const float* y, const float* shift,
                          int64_t rows, int64_t columns, float* sums);
  // y = z, cut
  void (*norm)(const NormArgs& args, float* y);
  // Of dy, or 0 where z is cut: sums[0][j] = the sum over rows, sums[1][j] that of its products
  // with x - mean.
  void (*norm_sums)(const NormArgs& args, const float* mean, const float* dy, float* sums);
  // dx (+)= dy, or 0 where z is cut, * factor + x * b + c
  void (*norm_gradient)(const NormArgs& args, const float* dy, const float* b, const float* c,
                        bool accumulate, float* dx);
  // y = f(x) by an activation's form, which is one; may work in place. Of a form whose derivative
  // needs the argument also derivative = f'(x), null where nobody wants it.
  void (*activate)(const ActivationForm& form, const float* x, int64_t n, float* y,
                   float* derivative);
  // dx = dy * f'(.), from the result y of a form of which that is enough; may work in place
  void (*activate_gradient)(const ActivationForm& form, const float* y, const float* dy, int64_t n,
                            float* dx);
  // Rows of softmax; may work in place.
  void (*softmax)(const float* x, int64_t rows, int64_t columns, float* y);
  // dx (+)= (dy - sum(dy * y)) * y, row by row
  void (*softmax_gradient)(const float* y, const float* dy, int64_t rows, int64_t columns,
                           bool accumulate, float* dx);

  // Softmax and crossentropy in one: probabilities p and log_sum[i] = log(sum(exp(x[i]))).
  void (*softmax_log_sum)(const float* x, int64_t rows, int64_t columns, float* p, float* log_sum);
  // loss = max(x, 0) - x * t + log(1 + exp(-|x|)) and gradient = sigmoid(x) - t
  void (*sigmoid_loss)(const float* x, const float* t, int64_t n, float* loss, float* gradient);

  // loss = (x - t)^2 and its derivative, or |x - t| and its sign
  void (*difference_loss)(bool squared, const float* x, const float* t, int64_t n, float* loss,
                          float* gradient);

  void (*add)(const float* x, int64_t n, float* y);  // y += x
  // y = x * factor + offset
  void (*scale)(const float* x, float factor, float offset, int64_t n, float* y);
  void (*add_scaled)(const float* x, float factor, int64_t n, float* y);  // y += x * factor
  // y = bits >> 8 >= dropped ? x * scale : 0, and keep the decision in mask (0 or 1)
  void (*dropout)(const float* x, const uint32_t* bits, uint32_t dropped, float scale, int64_t n,
                  float* y, uint8_t* mask);
  // dx (+)= mask ? dy * scale : 0
  void (*dropout_gradient)(const float* dy, const uint8_t* mask, float scale, int64_t n,
                           bool accumulate, float* dx);

  // `where` gets the number of the largest cell in its window (below 256).
  void (*max_pool)(const PoolArgs& args, const float* x, float* y, uint8_t* where);
  // dx (+)= dy at the cells that were largest
  void (*max_pool_gradient)(const PoolArgs& args, const float* dy, const uint8_t* where,
                            bool accumulate, float* dx);

  // Winograd's convolution with tiles of outputs * outputs, 2 * 2 or 4 * 4: products of
  // (outputs + 2)^2 pairs of matrices stand for 9 * outputs^2 of single weights.
  // the tiles v, of so many cells each, of input images
  void (*winograd_input)(int64_t outputs, const TileArgs& args, const float* x, float* v);
  // dx += what the gradient of v gives
  void (*winograd_input_gradient)(int64_t outputs, const TileArgs& args, const float* dv,
                                  float* dx);
  // y = outputs of the products m, of as many, then bias (may be null) and relu
  void (*winograd_output)(int64_t outputs, const TileArgs& args, const float* m, const float* bias,
                          bool relu, float* y);
  // z of the gradient of output images: what m's gradient is
  void (*winograd_gradient)(int64_t outputs, const TileArgs& args, const float* dy, float* z);
  // u[(outputs + 2)^2][n] of n windows g[9][n]
  void (*winograd_weights)(int64_t outputs, const float* g, int64_t n, float* u);
  // the gradient of g by that of u
  void (*winograd_weights_gradient)(int64_t outputs, const float* u, int64_t n, float* g);

  // means of the cells that lie inside the image
  void (*average_pool)(const PoolArgs& args, const float* x, float* y);
  void (*average_pool_gradient)(const PoolArgs& args, const float* dy, bool accumulate, float* dx);

  // y = the sums, which begin with bias (may be null), then relu
  void (*depthwise)(const DepthwiseArgs& args, const float* x, const float* kernel,
                    const float* bias, bool relu, float* y);
  // dx (+)= the gradient of the images
  void (*depthwise_input_gradient)(const DepthwiseArgs& args, const float* dy, const float* kernel,
                                   bool accumulate, float* dx);
  // sums += the gradient of some channels of the kernel, which lie as the kernel does
  void (*depthwise_kernel_gradient)(const DepthwiseArgs& args, const float* x, const float* dy,
                                    float* sums);

  void (*multiply)(const float* x, int64_t n, float* y);  // y *= x
  // Rows of x - log(sum(exp(x))); may work in place.
  void (*log_softmax)(const float* x, int64_t rows, int64_t columns, float* y);
  // dx = dy - exp(y) * sum(dy), row by row; may work in place
  void (*log_softmax_gradient)(const float* y, const float* dy, int64_t rows, int64_t columns,
                               float* dx);
  // Rows of 2 * columns become the first half times the sigmoid of the second.
  void (*glu)(const float* x, int64_t rows, int64_t columns, float* y);
  void (*glu_gradient)(const float* x, const float* dy, int64_t rows, int64_t columns,
                       bool accumulate, float* dx);

  // y = cos(x) and, unless it is null, sine = sin(x), of arguments cut to 1e5 on either side; y may
  // be x
  void (*cosine)(const float* x, int64_t n, float* y, float* sine);

  void (*lstm)(const LstmArgs& args);
  // The gates become the gradient of their sums; dc that of c becomes that of c_before, and dh,
  // that of h, what of it goes to the state before but through the gates: 0.
  void (*lstm_gradient)(const LstmArgs& args, float* dh, float* dc);
  void (*gru)(const GruArgs& args);
  // As an LSTM's; `inner` becomes its gradient.
  void (*gru_gradient)(const GruArgs& args, float* dh);

  void (*normalize_rows)(const RowNormArgs& args, float* y);
  // dx (+)= the gradient of x, unless it is null; sums[2][columns] = those of gamma and beta
  void (*normalize_rows_gradient)(const RowNormArgs& args, const float* dy, bool accumulate,
                                  float* dx, float* sums);
};

// Of CpuCapability().
const Kernels& KernelsHere();
// Of a text as CpuCapability() gives.
const Kernels& KernelsFor(const char* capability);

// One for each instruction set; null where this build or processor has none.
const Kernels* BaselineKernels();
const Kernels* Avx2Kernels();
const Kernels* Avx512Kernels();

}  // namespace hopper
