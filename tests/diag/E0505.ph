// expect: E0505 at 25:10
fn step0(x) = x + x
fn step1(x) = step0(x) + step0(x)
fn step2(x) = step1(x) + step1(x)
fn step3(x) = step2(x) + step2(x)
fn step4(x) = step3(x) + step3(x)
fn step5(x) = step4(x) + step4(x)
fn step6(x) = step5(x) + step5(x)
fn step7(x) = step6(x) + step6(x)
fn step8(x) = step7(x) + step7(x)
fn step9(x) = step8(x) + step8(x)
fn step10(x) = step9(x) + step9(x)
fn step11(x) = step10(x) + step10(x)
fn step12(x) = step11(x) + step11(x)
fn step13(x) = step12(x) + step12(x)
fn step14(x) = step13(x) + step13(x)
fn step15(x) = step14(x) + step14(x)
fn step16(x) = step15(x) + step15(x)
fn step17(x) = step16(x) + step16(x)
fn step18(x) = step17(x) + step17(x)
fn step19(x) = step18(x) + step18(x)
fn step20(x) = step19(x) + step19(x)

kernel k(A: tensor<f32>[M]) {
  A[:] = step20(A[:])
}
