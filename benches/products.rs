//! How close the products of bytes come to the limit of the processor: billions of multiply-adds per second at the sizes of
//! `accurate`, for each instruction set, beside a loop of the same instructions that reads no memory, in the same run.
//! Each figure is the fastest of many runs, so other work on the machine hardly changes it.

use std::hint::black_box;
use std::time::{Duration, Instant};

use srparse::neural::inference::{Inputs, InstructionSet, Matrix, PaddedLayout, Rows, WINDOW};
use srparse::neural::params::Builder;
use srparse::neural::{Param, Params, Quantized};

/// The number of times that each product is measured.
const RUNS: usize = 300;

/// Products: what they are, the number of rows, of inputs and of outputs.
const SIZES: [(&str, usize, usize, usize); 5] = [
    ("inputs of the first layer", WINDOW, 228, 4 * 208),
    ("inputs of the second layer", WINDOW, 2 * 208, 4 * 208),
    ("contributions to decisions", WINDOW, 2 * 208, 13 * 160),
    ("four rows", 4, 2 * 208, 4 * 208),
    ("one row: a step of an LSTM", 1, 208, 4 * 208),
];

/// The shortest time that some work takes.
fn fastest(mut work: impl FnMut()) -> Duration {
    let run = |_| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    (0..RUNS).map(run).min().unwrap_or_default()
}

/// Billions per second.
fn rate(number: usize, time: Duration) -> f64 {
    number as f64 / time.as_secs_f64() / 1e9
}

/// Loops of the instructions of the products, on independent sums in registers; they return the number of multiply-adds.
#[cfg(target_arch = "x86_64")]
mod peak {
    use std::arch::x86_64 as intel;
    use std::hint::black_box;

    const STEPS: usize = 20_000;

    #[target_feature(enable = "avx512f,avx512vnni")]
    pub(super) fn vnni() -> usize {
        let [x, weights] = black_box([intel::_mm512_set1_epi8(3); 2]);
        let mut sums = [intel::_mm512_setzero_si512(); 12];
        for _ in 0..STEPS {
            for sum in &mut sums {
                *sum = intel::_mm512_dpbusd_epi32(*sum, x, weights);
            }
        }
        black_box(sums);
        STEPS * sums.len() * 64
    }

    #[target_feature(enable = "avxvnni,avx2")]
    pub(super) fn avx_vnni() -> usize {
        let [x, weights] = black_box([intel::_mm256_set1_epi8(3); 2]);
        let mut sums = [intel::_mm256_setzero_si256(); 12];
        for _ in 0..STEPS {
            for sum in &mut sums {
                *sum = intel::_mm256_dpbusd_avx_epi32(*sum, x, weights);
            }
        }
        black_box(sums);
        STEPS * sums.len() * 32
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn avx2() -> usize {
        let [x, sizes] = black_box([intel::_mm256_set1_epi8(3); 2]);
        let one = intel::_mm256_set1_epi16(1);
        let mut sums = [intel::_mm256_setzero_si256(); 10];
        for _ in 0..STEPS {
            for sum in &mut sums {
                // The sums in place of weights, so that no instruction moves out of the loop.
                let signed = intel::_mm256_sign_epi8(*sum, x);
                let pairs = intel::_mm256_maddubs_epi16(sizes, signed);
                *sum = intel::_mm256_add_epi32(*sum, intel::_mm256_madd_epi16(pairs, one));
            }
        }
        black_box(sums);
        STEPS * sums.len() * 32
    }
}

/// The rate of the instructions alone, for the sets whose products are written with such.
#[cfg(target_arch = "x86_64")]
fn peak(set: InstructionSet) -> Option<f64> {
    // SAFETY: values of an instruction set exist only if the processor has it.
    #[allow(unsafe_code)]
    let work = match set.name() {
        "vnni" => || unsafe { peak::vnni() },
        "avx-vnni" => || unsafe { peak::avx_vnni() },
        "avx2" => || unsafe { peak::avx2() },
        _ => return None,
    };
    let mut number = 0;
    let time = fastest(|| number = work());
    Some(rate(number, time))
}

#[cfg(not(target_arch = "x86_64"))]
fn peak(_: InstructionSet) -> Option<f64> {
    None
}

/// A matrix, and its parameters.
fn matrix(inputs: usize, outputs: usize) -> (Params, Param) {
    let mut builder = Builder::new(Some(1));
    let weights = builder.matrix(inputs, outputs);
    (builder.finish().expect("it is small"), weights)
}

/// The rate of the products of so many rows.
fn products(set: InstructionSet, n: usize, inputs: usize, outputs: usize) -> f64 {
    let (params, weights) = matrix(inputs, outputs);
    let places = [inputs, outputs].map(|size| PaddedLayout::blocks(1, size, 4));
    let matrix = Matrix::pack(&Quantized::new(&params), (weights, None), &places[0], &places[1]);
    let values: Vec<f32> = (0..inputs).map(|at| (at % 9) as f32 / 4.0 - 1.0).collect();
    let (mut rows, mut out) = (Rows::default(), Vec::new());
    rows.reset(n, matrix.places());
    (0..n).for_each(|row| rows.set_numbers(set, row, &values));
    let mut row = Inputs::default();
    row.set_numbers(set, &values, matrix.places());
    let time = fastest(|| match n {
        1 => matrix.product(set, black_box(&row).parts(), &mut out),
        _ => matrix.products(set, black_box(&rows), 0..n, &mut out),
    });
    rate(n * inputs * outputs, time)
}

fn main() {
    println!("{:9} {:27} {:>8} {:>11}", "", "", "10⁹/s", "of the peak");
    for set in InstructionSet::available() {
        let peak = peak(set);
        if let Some(peak) = peak {
            println!("{:9} {:27} {peak:8.1}", set.name(), "peak");
        }
        for (what, n, inputs, outputs) in SIZES {
            let rate = products(set, n, inputs, outputs);
            let share =
                peak.map_or_else(String::new, |peak| format!("{:.0} %", 100.0 * rate / peak));
            println!("{:9} {what:27} {rate:8.1} {share:>11}", set.name());
        }
    }
}
