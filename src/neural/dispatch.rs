//! One function for each instruction set.

/// Makes one function for processors with AVX-512, one for those with AVX2 and FMA, and one for all others, of the same
/// body. `$fused` adds a product; `$wide` is whether there are 32 registers of 16 numbers.
macro_rules! dispatched {
    ($(#[$doc:meta])* $vis:vis $name:ident($($arg:ident: $type:ty),*) $(-> $out:ty)?, |$fused:ident, $wide:ident| $body:block) => {
        $(#[$doc])*
        $vis fn $name($($arg: $type),*) $(-> $out)? {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx2,fma")]
            fn avx512($($arg: $type),*) $(-> $out)? {
                let $fused = |a: f32, b: f32, sum: f32| a.mul_add(b, sum);
                const $wide: bool = true;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2($($arg: $type),*) $(-> $out)? {
                let $fused = |a: f32, b: f32, sum: f32| a.mul_add(b, sum);
                const $wide: bool = false;
                $body
            }
            fn portable($($arg: $type),*) $(-> $out)? {
                let $fused = |a: f32, b: f32, sum: f32| a * b + sum;
                const $wide: bool = false;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            {
                use std::arch::is_x86_feature_detected as has;
                // The features that each is compiled for have just been found.
                #[allow(unsafe_code)]
                if has!("avx2") && has!("fma") {
                    return if has!("avx512f") { unsafe { avx512($($arg),*) } } else { unsafe { avx2($($arg),*) } };
                }
            }
            portable($($arg),*)
        }
    };
}
pub(super) use dispatched;
