// Convolutions by Winograd's transforms and of one channel each against their definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/kernel_sets.h"
#include "kernels/kernels.h"

namespace hopper {
namespace {

// A convolution of 3 x 3 over two images, forward and the windows' gradient, made of Winograd's
// transforms with the products in between in float64, against its definition.
TEST_P(KernelSet, WinogradIsConvolution) {
  struct Case {
    int64_t side;  // of a tile, in outputs
    int64_t height, width, in, out, before, out_height, out_width;
  };
  for (const Case& k : {Case{2, 7, 6, 5, 19, 1, 7, 6}, Case{2, 8, 9, 16, 16, 0, 6, 7},
                        Case{2, 5, 5, 33, 3, 1, 5, 5}, Case{2, 3, 4, 17, 32, 0, 1, 2},
                        Case{4, 7, 6, 5, 19, 1, 7, 6}, Case{4, 8, 9, 16, 16, 0, 6, 7},
                        Case{4, 5, 5, 33, 3, 1, 5, 5}, Case{4, 3, 4, 17, 32, 0, 1, 2}}) {
    const int64_t cells = (k.side + 2) * (k.side + 2);
    constexpr int64_t kImages = 2;
    const auto x = Random(static_cast<size_t>(kImages * k.height * k.width * k.in), 1);
    const auto g = Random(static_cast<size_t>(9 * k.in * k.out), 2);  // [tap][in][out]
    const auto bias = Random(static_cast<size_t>(k.out), 3);
    const auto outputs = static_cast<size_t>(kImages * k.out_height * k.out_width * k.out);
    const auto dy = Random(outputs, 4);
    const auto before = Random(outputs, 5);
    std::vector<double> want(outputs);
    std::vector<double> want_dg(g.size());
    std::vector<double> want_dx(x.size());
    for (size_t at = 0; at < outputs; ++at) {
      const auto o = static_cast<int64_t>(at) % k.out;
      const int64_t ow = static_cast<int64_t>(at) / k.out % k.out_width;
      const int64_t oh = static_cast<int64_t>(at) / k.out / k.out_width % k.out_height;
      const int64_t image = static_cast<int64_t>(at) / k.out / k.out_width / k.out_height;
      for (int64_t tap = 0; tap < 9; ++tap) {
        const int64_t h = oh - k.before + tap / 3;
        const int64_t w = ow - k.before + tap % 3;
        if (h < 0 || w < 0 || h >= k.height || w >= k.width) continue;
        for (int64_t i = 0; i < k.in; ++i) {
          const int64_t input = ((image * k.height + h) * k.width + w) * k.in + i;
          const double value = x[input];
          want_dx[input] += static_cast<double>(g[(tap * k.in + i) * k.out + o]) * dy[at];
          want[at] += value * g[(tap * k.in + i) * k.out + o];
          want_dg[(tap * k.in + i) * k.out + o] += value * dy[at];
        }
      }
    }

    TileArgs from;
    from.height = k.height;
    from.width = k.width;
    from.channels = k.in;
    from.rows = (k.out_height + k.side - 1) / k.side;
    from.columns = (k.out_width + k.side - 1) / k.side;
    from.before_height = from.before_width = k.before;
    TileArgs to = from;
    to.height = k.out_height;
    to.width = k.out_width;
    to.channels = k.out;
    constexpr int64_t kBlock = 3;
    from.tile = k.in;
    from.cell = kBlock * k.in + 5;
    to.tile = k.out;
    to.cell = kBlock * k.out + 5;
    TileArgs products = to;
    products.tile = cells * k.out + 5;
    products.cell = k.out;
    TileArgs gradients = from;  // of the inputs' tiles
    gradients.tile = cells * k.in + 5;
    gradients.cell = k.in;
    std::vector<float> u(cells * k.in * k.out);
    std::vector<float> du(u.size());
    std::vector<float> dg(g.size());
    GetParam()->winograd_weights(k.side, g.data(), k.in * k.out, u.data());
    for (const bool relu : {false, true}) {
      auto y = before;
      std::fill(du.begin(), du.end(), 0.0F);
      std::vector<float> dx(x.size(), 1.0F);
      const int64_t tiles = kImages * from.rows * from.columns;
      for (int64_t first = 0; first < tiles; first += kBlock) {
        from.first = to.first = products.first = gradients.first = first;
        from.count = to.count = products.count = gradients.count = std::min(kBlock, tiles - first);
        const int64_t n = from.count;
        std::vector<float> v(cells * from.cell);
        std::vector<float> m(kBlock * products.tile);
        std::vector<float> z(cells * to.cell);
        std::vector<float> dv(kBlock * gradients.tile);
        GetParam()->winograd_input(k.side, from, x.data(), v.data());
        GetParam()->winograd_gradient(k.side, to, dy.data(), z.data());
        for (int64_t cell = 0; cell < cells; ++cell) {
          for (int64_t t = 0; t < n; ++t) {
            for (int64_t o = 0; o < k.out; ++o) {
              double sum = 0.0;
              for (int64_t i = 0; i < k.in; ++i) {
                const double value = v[cell * from.cell + t * from.tile + i];
                sum += value * u[(cell * k.in + i) * k.out + o];
                dv[t * gradients.tile + cell * gradients.cell + i] +=
                    u[(cell * k.in + i) * k.out + o] * z[cell * to.cell + t * to.tile + o];
                du[(cell * k.in + i) * k.out + o] +=
                    static_cast<float>(value * z[cell * to.cell + t * to.tile + o]);
              }
              m[t * products.tile + cell * products.cell + o] = static_cast<float>(sum);
            }
          }
        }
        GetParam()->winograd_output(k.side, products, m.data(), relu ? bias.data() : nullptr, relu,
                                    y.data());
        GetParam()->winograd_input_gradient(k.side, gradients, dv.data(), dx.data());
      }
      for (size_t at = 0; at < x.size(); ++at) ASSERT_NEAR(dx[at], want_dx[at] + 1.0, 2e-5) << at;
      for (size_t at = 0; at < outputs; ++at) {
        const double value = want[at] + (relu ? bias[at % k.out] : 0.0);
        ASSERT_NEAR(y[at], relu ? std::max(0.0, value) : value, 2e-5) << at << " of " << k.out;
      }
    }
    GetParam()->winograd_weights_gradient(k.side, du.data(), k.in * k.out, dg.data());
    for (size_t at = 0; at < g.size(); ++at) ASSERT_NEAR(dg[at], want_dg[at], 1e-4) << at;
  }
}

// Calls body(output's place, image's place, cell's place) for all cells that lie inside the image.
template <typename Body>
void ForDepthwiseCells(const DepthwiseArgs& p, const Body& body) {
  for (int64_t oh = 0; oh < p.out_height; ++oh) {
    for (int64_t ow = 0; ow < p.out_width; ++ow) {
      for (int64_t kh = 0; kh < p.kernel_height; ++kh) {
        for (int64_t kw = 0; kw < p.kernel_width; ++kw) {
          const int64_t h = oh * p.stride_height - p.before_height + kh * p.dilation_height;
          const int64_t w = ow * p.stride_width - p.before_width + kw * p.dilation_width;
          if (h < 0 || h >= p.height || w < 0 || w >= p.width) continue;
          body(oh * p.out_width + ow, h * p.width + w, kh * p.kernel_width + kw);
        }
      }
    }
  }
}

// Windows of all kinds, also such as are larger than the image, lie beside it or leave cells out.
TEST_P(KernelSet, DepthwiseConvolutions) {
  const Philox random(9, Purpose::kSearch, 21, 0);
  uint64_t draws = 0;
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(random.Below(draws++, static_cast<uint64_t>(n)));
  };
  for (int round = 0; round < 300; ++round) {
    DepthwiseArgs p;
    p.images = 1 + below(3);
    p.height = 1 + below(9);
    p.width = 1 + below(round % 2 == 0 ? 5 : 19);
    p.channels = 1 + below(round % 4 == 0 ? 80 : 40);
    p.kernel_height = 1 + below(5);
    p.kernel_width = 1 + below(round % 5 == 0 ? 30 : 5);
    p.stride_height = 1 + below(3);
    p.stride_width = 1 + below(3);
    p.dilation_height = 1 + below(3);
    p.dilation_width = round % 3 == 0 ? 1 + below(7) : 1;
    p.before_height = below(6);
    p.before_width = below(round % 7 == 0 ? 40 : 4);
    p.out_height = 1 + below(7);
    p.out_width = 1 + below(12);
    p.first_channel = 16 * below((p.channels + 15) / 16);
    p.some_channels = p.channels - p.first_channel;
    SCOPED_TRACE(testing::Message() << "round " << round);
    const int64_t n = p.channels;
    const int64_t in = p.height * p.width * n;
    const int64_t out = p.out_height * p.out_width * n;
    const size_t weights = static_cast<size_t>(p.kernel_height * p.kernel_width * n);
    const auto x = Random(static_cast<size_t>(p.images * in), 1);
    const auto dy = Random(static_cast<size_t>(p.images * out), 2);
    const auto kernel = Random(weights, 3);
    const auto bias = Random(static_cast<size_t>(n), 4);
    const auto before = Random(x.size(), 5);
    std::vector<double> want(dy.size());
    std::vector<double> want_dx(x.size());
    std::vector<double> want_sums(weights);
    for (int64_t image = 0; image < p.images; ++image) {
      ForDepthwiseCells(p, [&](int64_t output, int64_t cell, int64_t tap) {
        for (int64_t c = 0; c < n; ++c) {
          const auto o = static_cast<size_t>(image * out + output * n + c);
          const auto i = static_cast<size_t>(image * in + cell * n + c);
          const auto k = static_cast<size_t>(tap * n + c);
          want[o] += static_cast<double>(x[i]) * kernel[k];
          want_dx[i] += static_cast<double>(dy[o]) * kernel[k];
          want_sums[k] += static_cast<double>(dy[o]) * x[i];
        }
      });
    }
    std::vector<float> y(dy.size(), NAN);
    for (const bool relu : {false, true}) {
      GetParam()->depthwise(p, x.data(), kernel.data(), relu ? bias.data() : nullptr, relu,
                            y.data());
      for (size_t at = 0; at < y.size(); ++at) {
        const double value = relu ? std::max(0.0, want[at] + bias[at % n]) : want[at];
        ASSERT_NEAR(y[at], value, 1e-5) << at;
      }
    }
    std::vector<float> dx = before;
    for (const bool accumulate : {true, false}) {
      GetParam()->depthwise_input_gradient(p, dy.data(), kernel.data(), accumulate, dx.data());
      for (size_t at = 0; at < dx.size(); ++at) {
        ASSERT_NEAR(dx[at], want_dx[at] + (accumulate ? before[at] : 0.0F), 1e-5) << at;
      }
    }
    std::vector<float> sums(weights, 0.5F);
    GetParam()->depthwise_kernel_gradient(p, x.data(), dy.data(), sums.data());
    for (size_t at = 0; at < weights; ++at) {
      const bool meant = static_cast<int64_t>(at) % n >= p.first_channel;
      ASSERT_NEAR(sums[at], 0.5 + (meant ? want_sums[at] : 0.0), 1e-5) << at;
    }
  }
}

// A row of images has the same bits whichever images are computed with it.
TEST_P(KernelSet, DepthwiseImagesDoNotDependOnOthers) {
  DepthwiseArgs p;
  p.images = 3;
  p.height = p.out_height = 7;
  p.width = p.out_width = 11;
  p.channels = p.some_channels = 37;
  p.kernel_height = p.kernel_width = 3;
  p.before_height = p.before_width = 1;
  const int64_t size = p.height * p.width * p.channels;
  const auto x = Random(static_cast<size_t>(3 * size), 1);
  const auto kernel = Random(static_cast<size_t>(9 * p.channels), 2);
  std::vector<float> all(x.size());
  GetParam()->depthwise(p, x.data(), kernel.data(), nullptr, false, all.data());
  p.images = 1;
  std::vector<float> one(static_cast<size_t>(size));
  for (int64_t image = 0; image < 3; ++image) {
    GetParam()->depthwise(p, x.data() + image * size, kernel.data(), nullptr, false, one.data());
    EXPECT_EQ(one,
              std::vector<float>(all.begin() + image * size, all.begin() + (image + 1) * size));
  }
}

}  // namespace
}  // namespace hopper
