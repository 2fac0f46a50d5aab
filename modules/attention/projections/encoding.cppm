module;
#include <span>
export module iap.attention:encoding;
import :patches;

export namespace iap {

/// The sinusoidal position encoding of "Attention is all you need" (section 3.5) in two dimensions: writes PE, L x c row-major. The
/// first n = ceil(c / 2) values of a patch encode its row t, the others (n = floor(c / 2)) its column t, counted in patches from 0:
/// value v of the n is sin(t / 10000^(v / n)) for even v and cos(t / 10000^((v - 1) / n)) for odd v. With c = 1 there is only the
/// row.
void sinusoidal_encoding(const PatchGrid& grid, std::span<float> out);

}  // namespace iap
