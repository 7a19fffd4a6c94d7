//! One function for each instruction set.

/// The instruction sets that functions are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    Portable,
}

impl Level {
    /// The best one that the processor has.
    #[inline(always)]
    pub(super) fn detect() -> Self {
        #[cfg(test)]
        if let Some(level) = tests::CHOSEN.get() {
            return level;
        }
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            if has!("avx2") && has!("fma") {
                return if has!("avx512f") { Self::Avx512 } else { Self::Avx2 };
            }
        }
        Self::Portable
    }
}

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
            // SAFETY: only a level whose features the processor has is ever detected, or chosen by a test.
            #[allow(unsafe_code)]
            match $crate::neural::dispatch::Level::detect() {
                #[cfg(target_arch = "x86_64")]
                $crate::neural::dispatch::Level::Avx512 => unsafe { avx512($($arg),*) },
                #[cfg(target_arch = "x86_64")]
                $crate::neural::dispatch::Level::Avx2 => unsafe { avx2($($arg),*) },
                $crate::neural::dispatch::Level::Portable => portable($($arg),*),
            }
        }
    };
}
pub(super) use dispatched;

#[cfg(test)]
pub(super) mod tests {
    use std::cell::Cell;

    use super::Level;
    use crate::neural::kernel::tests::{Products, numbers};
    use crate::neural::kernel::{add_scaled, sum_of_squares, sum_rectified};
    use crate::neural::row_functions::tanh;
    use crate::neural::{Lstm, Params, Tape, params::Builder};

    thread_local! {
        /// The level of this thread, if a test has chosen one.
        pub(in crate::neural) static CHOSEN: Cell<Option<Level>> = const { Cell::new(None) };
    }

    impl Level {
        /// All that the processor has, the best first.
        pub(in crate::neural) fn available() -> Vec<Self> {
            let best = Self::detect();
            #[cfg(target_arch = "x86_64")]
            let all = [Self::Avx512, Self::Avx2, Self::Portable];
            #[cfg(not(target_arch = "x86_64"))]
            let all = [Self::Portable];
            all.into_iter().skip_while(|&level| level != best).collect()
        }

        /// Runs work on this thread with this level.
        pub(in crate::neural) fn run<T>(self, work: impl FnOnce() -> T) -> T {
            CHOSEN.set(Some(self));
            let result = work();
            CHOSEN.set(None);
            result
        }
    }

    /// The results of every function that is compiled for several levels, for one row, few rows and many.
    fn results() -> Vec<f32> {
        let mut all = Vec::new();
        for (n, inputs, outputs) in
            [(1, 5, 3), (1, 40, 70), (2, 33, 64), (7, 20, 100), (33, 65, 129)]
        {
            let Products { x, y, mut dx, dw, .. } = Products::new(n, inputs, outputs);
            let mut sum = vec![0.0; inputs];
            sum_rectified(&[&x.chunks_exact(inputs).collect::<Vec<_>>()], &mut sum);
            add_scaled(0.3, &x[..inputs], &mut sum);
            tanh(&mut dx);
            all.extend([y, dx, dw, sum, vec![sum_of_squares(&x)]].concat());
        }
        all.extend(lstm());
        all
    }

    /// The outputs of an LSTM over a sequence.
    fn lstm() -> Vec<f32> {
        let (inputs, units) = (12, 40);
        let mut builder = Builder::new(Some(5));
        let lstm = Lstm {
            input: builder.matrix(inputs, 4 * units),
            bias: builder.vector_of(|at| (at % 3) as f32 / 2.0, 4 * units),
            recurrent: builder.matrix(units, 4 * units),
        };
        let params: Params = builder.finish().unwrap();
        let mut tape = Tape::default();
        let x = tape.constant(&numbers(9 * inputs, 2));
        let outputs = tape.sequence(&params, lstm, x, false);
        tape.of(outputs).to_vec()
    }

    /// AVX-512 and AVX2 give the same bits; without fused operations the results are near.
    #[test]
    fn every_level_gives_the_results_of_the_others() {
        let levels = Level::available();
        assert_eq!(levels.last(), Some(&Level::Portable));
        let expected = Level::Portable.run(results);
        let mut fused: Option<Vec<u32>> = None;
        for level in levels {
            let found = level.run(results);
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                assert!(
                    (found - expected).abs() <= 1e-4 * expected.abs().max(1.0),
                    "{level:?}: {found} {expected}"
                );
            }
            if level != Level::Portable {
                let bits: Vec<u32> = found.iter().map(|number| number.to_bits()).collect();
                assert!(*fused.get_or_insert_with(|| bits.clone()) == bits, "{level:?}");
            }
        }
    }
}
