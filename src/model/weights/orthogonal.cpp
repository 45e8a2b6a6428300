// Eigen::HouseholderQR and its Q, with looks at `cancel` between: the same steps in the same order,
// of some columns at a time, which do not see each other, so that the bits are the same. Matrices
// of very many rows, of which a step of a few columns takes too long already, are added up in
// blocks of rows.
#include "model/weights/orthogonal.h"

#include <Eigen/Dense>
#include <algorithm>

namespace hopper {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Block = Eigen::Block<MatrixXd, Eigen::Dynamic, Eigen::Dynamic>;
using Factor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Columns of a panel: Eigen's.
constexpr Index kBlock = 48;
// Work between two looks at `cancel`: of products, and of steps that read all of a matrix for two
// operations a number.
constexpr double kOperationsBetweenLooks = 2e8;
constexpr Index kNumbers = Index{8} << 20;
// With more rows, products are added up in blocks of so many.
constexpr Index kRows = Index{64} << 10;

bool Ends(const std::atomic<bool>& cancel) { return cancel.load(std::memory_order_relaxed); }

// target = (1 - tau * v * v') * target, where v is 1 and then `essential`. Eigen takes columns
// eight at a time.
template <typename Vector>
bool ApplyReflector(const std::atomic<bool>& cancel, const Vector& essential, double tau,
                    Block target) {
  const Index step = std::max<Index>(1, kNumbers / target.rows() / 8) * 8;
  Eigen::VectorXd workspace(std::min(step, target.cols()));
  for (Index first = 0; first < target.cols(); first += step) {
    if (Ends(cancel)) return false;
    target.middleCols(first, std::min(step, target.cols() - first))
        .applyHouseholderOnTheLeft(essential, tau, workspace.data());
  }
  return true;
}

// As Eigen's householder_qr_inplace_unblocked().
bool DecomposePanel(const std::atomic<bool>& cancel, Block panel, Eigen::VectorXd* coefficients,
                    Index first) {
  for (Index k = 0; k < panel.cols(); ++k) {
    if (Ends(cancel)) return false;
    const Index rows = panel.rows() - k;
    double beta = 0.0;
    double& tau = (*coefficients)(first + k);
    panel.col(k).tail(rows).makeHouseholderInPlace(tau, beta);
    panel(k, k) = beta;
    const Index behind = panel.cols() - k - 1;
    if (behind == 0) continue;
    const auto essential = panel.col(k).tail(rows - 1);
    Block rest(panel.nestedExpression(), panel.startRow() + k, panel.startCol() + k + 1, rows,
               behind);
    if (!ApplyReflector(cancel, essential, tau, rest)) return false;
  }
  return true;
}

// mat -= (block reflector of `vectors`) * mat, as Eigen's apply_block_householder_on_the_left().
template <typename Coefficients>
bool ApplyReflectors(const std::atomic<bool>& cancel, const Block& vectors,
                     const Coefficients& coefficients, bool forward, Block mat) {
  const Index n = vectors.cols();
  Factor factor(n, n);
  Eigen::internal::make_block_householder_triangular_factor(factor, vectors, coefficients);
  const Eigen::TriangularView<const Block, Eigen::UnitLower> v(vectors);
  const double column = 4.0 * static_cast<double>(n) * static_cast<double>(mat.rows());
  const Index step =
      std::max<Index>(1, static_cast<Index>(kOperationsBetweenLooks / column / 64.0)) * 64;
  for (Index first = 0; first < mat.cols(); first += step) {
    if (Ends(cancel)) return false;
    auto part = mat.middleCols(first, std::min(step, mat.cols() - first));
    MatrixXd product = v.adjoint() * part;
    if (forward) {
      product = factor.triangularView<Eigen::Upper>() * product;
    } else {
      product = factor.triangularView<Eigen::Upper>().adjoint() * product;
    }
    part.noalias() -= v * product;
  }
  return true;
}

// Calls body(first row, rows) for blocks of `rows` behind the first `begin`.
template <typename Body>
bool ForRows(const std::atomic<bool>& cancel, Index begin, Index rows, const Body& body) {
  for (Index first = begin; first < rows; first += kRows) {
    if (Ends(cancel)) return false;
    body(first, std::min(kRows, rows - first));
  }
  return true;
}

// ApplyReflectors() for more than kRows rows.
template <typename Coefficients>
bool ApplyTallReflectors(const std::atomic<bool>& cancel, const Block& vectors,
                         const Coefficients& coefficients, bool forward, Block mat) {
  const Index n = vectors.cols();
  const Index rows = vectors.rows();
  MatrixXd top = vectors.topRows(n).triangularView<Eigen::UnitLower>();
  MatrixXd products = top.adjoint() * top;
  if (!ForRows(cancel, n, rows, [&](Index first, Index some) {
        const auto part = vectors.middleRows(first, some);
        products.noalias() += part.adjoint() * part;
      })) {
    return false;
  }
  // As in make_block_householder_triangular_factor().
  Factor factor = Factor::Zero(n, n);
  for (Index i = n - 1; i >= 0; --i) {
    const Index behind = n - i - 1;
    if (behind > 0) {
      factor.row(i).tail(behind) = -coefficients(i) * products.row(i).tail(behind) *
                                   factor.bottomRightCorner(behind, behind);
    }
    factor(i, i) = coefficients(i);
  }
  constexpr Index kColumns = 16;
  for (Index first = 0; first < mat.cols(); first += kColumns) {
    auto part = mat.middleCols(first, std::min(kColumns, mat.cols() - first));
    MatrixXd product = top.adjoint() * part.topRows(n);
    if (!ForRows(cancel, n, rows, [&](Index row, Index some) {
          product.noalias() += vectors.middleRows(row, some).adjoint() * part.middleRows(row, some);
        })) {
      return false;
    }
    product = forward ? MatrixXd(factor * product) : MatrixXd(factor.adjoint() * product);
    part.topRows(n).noalias() -= top * product;
    if (!ForRows(cancel, n, rows, [&](Index row, Index some) {
          part.middleRows(row, some).noalias() -= vectors.middleRows(row, some) * product;
        })) {
      return false;
    }
  }
  return true;
}

template <typename Coefficients>
bool Apply(const std::atomic<bool>& cancel, const Block& vectors, const Coefficients& coefficients,
           bool forward, Block mat) {
  return vectors.rows() > kRows ? ApplyTallReflectors(cancel, vectors, coefficients, forward, mat)
                                : ApplyReflectors(cancel, vectors, coefficients, forward, mat);
}

bool SetIdentity(const std::atomic<bool>& cancel, Index rows, Index columns, MatrixXd* q) {
  q->resize(rows, columns);
  const Index step = std::max<Index>(1, kNumbers / rows);
  for (Index first = 0; first < columns; first += step) {
    if (Ends(cancel)) return false;
    q->middleCols(first, std::min(step, columns - first)).setZero();
  }
  q->diagonal().setOnes();
  return true;
}

}  // namespace

bool OrthogonalColumns(const std::atomic<bool>& cancel, MatrixXd* matrix, MatrixXd* q) {
  const Index rows = matrix->rows();
  const Index columns = matrix->cols();
  Eigen::VectorXd coefficients(columns);
  const Index panel = std::min(kBlock, columns);
  for (Index k = 0; k < columns; k += panel) {
    const Index n = std::min(columns - k, panel);
    const Block vectors(*matrix, k, k, rows - k, n);
    if (!DecomposePanel(cancel, vectors, &coefficients, k)) return false;
    const Index behind = columns - k - n;
    if (behind > 0 && !Apply(cancel, vectors, coefficients.segment(k, n), false,
                             Block(*matrix, k, k + n, rows - k, behind))) {
      return false;
    }
  }
  if (!SetIdentity(cancel, rows, columns, q)) return false;
  const bool square = rows == columns;  // then Eigen leaves out what is still an identity
  if (columns < kBlock || columns == 1) {
    for (Index k = columns; k-- > 0;) {
      const Index first = square ? k : 0;
      if (!ApplyReflector(cancel, matrix->col(k).tail(rows - k - 1), coefficients(k),
                          Block(*q, k, first, rows - k, columns - first))) {
        return false;
      }
    }
    return true;
  }
  const Index size = columns < 2 * kBlock ? (columns + 1) / 2 : kBlock;
  for (Index i = 0; i < columns; i += size) {
    const Index end = columns - i;
    const Index k = std::max<Index>(0, end - size);
    const Block vectors(*matrix, k, k, rows - k, end - k);
    const Index first = square ? k : 0;
    if (!Apply(cancel, vectors, coefficients.segment(k, end - k), true,
               Block(*q, k, first, rows - k, columns - first))) {
      return false;
    }
  }
  return true;
}

}  // namespace hopper
