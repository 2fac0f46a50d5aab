module;
export module iap.attention:rates;

export namespace iap {

/// What one core of this machine can do with the instruction set that the kernels run on: the most a second that was seen, single
/// precision, one for every element of a vector.
struct MachineRates {
  double fma = 0;          ///< multiply-adds between registers
  double exp = 0;          ///< exponentials of values in the nearest cache
  double sine_cosine = 0;  ///< pairs of a sine and a cosine, likewise
  double bytes = 0;        ///< bytes read from 8 MiB, which the inner caches do not hold
};

/// Measures for about `seconds`: many short repeats of each, the best of which count, so that other load on the machine matters
/// little.
MachineRates measure_rates(double seconds);

}  // namespace iap
