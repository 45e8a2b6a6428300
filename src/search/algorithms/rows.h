// The rows of the table of algorithms, one a file.
#pragma once

#include "search/algorithm.h"

namespace hopper {
namespace search_rows {

AlgorithmType Grid();
AlgorithmType Random();
AlgorithmType SuccessiveHalving();
AlgorithmType Hyperband();
AlgorithmType Asha();
AlgorithmType Median();
AlgorithmType Sobol();
AlgorithmType Tpe();
AlgorithmType Bohb();
AlgorithmType Gp();
AlgorithmType Pbt();

}  // namespace search_rows
}  // namespace hopper
