#include "textflag.h"

// ROW adds the products of four neighbouring numbers of a row of x with 64 columns, whose weights are in Z24 to Z27.
#define ROW(at, a, b, c, d) \
	VPBROADCASTD at, Z28      \
	VPDPBUSD     Z24, Z28, a  \
	VPDPBUSD     Z25, Z28, b  \
	VPDPBUSD     Z26, Z28, c  \
	VPDPBUSD     Z27, Z28, d

// START sets the sums of a row to those of the offset of x.
#define START(a, b, c, d) \
	VMOVDQA32 Z24, a \
	VMOVDQA32 Z25, b \
	VMOVDQA32 Z26, c \
	VMOVDQA32 Z27, d

// FINISH turns the sums of a row into numbers: bias + scale of the row * scale of the column * sum.
#define FINISH(at, a, b, c, d) \
	VBROADCASTSS at, Z28             \
	VCVTDQ2PS    a, a                \
	VCVTDQ2PS    b, b                \
	VCVTDQ2PS    c, c                \
	VCVTDQ2PS    d, d                \
	VMULPS       Z24, a, a           \
	VMULPS       Z25, b, b           \
	VMULPS       Z26, c, c           \
	VMULPS       Z27, d, d           \
	VFMADD213PS  (DX), Z28, a        \
	VFMADD213PS  64(DX), Z28, b      \
	VFMADD213PS  128(DX), Z28, c     \
	VFMADD213PS  192(DX), Z28, d     \
	VMOVUPS      a, (R9)             \
	VMOVUPS      b, 64(R9)           \
	VMOVUPS      c, 128(R9)          \
	VMOVUPS      d, 192(R9)          \
	ADDQ         R10, R9

// func multiplyVNNI(depth int, x *uint8, xScales *float32, panel *int8, offsets *int32, scales, bias, y *float32, yStride int)
// Rows 0 to 2 of x are addressed from SI, rows 3 to 5 from DI. Z0 to Z23 hold the sums, four for a row.
TEXT ·multiplyVNNI(SB), NOSPLIT, $0-72
	MOVQ depth+0(FP), CX
	MOVQ x+8(FP), SI
	MOVQ panel+24(FP), BX
	MOVQ offsets+32(FP), DX
	MOVQ CX, R8
	LEAQ (SI)(R8*2), DI
	ADDQ R8, DI
	VMOVDQU32 (DX), Z24
	VMOVDQU32 64(DX), Z25
	VMOVDQU32 128(DX), Z26
	VMOVDQU32 192(DX), Z27
	START(Z0, Z1, Z2, Z3)
	START(Z4, Z5, Z6, Z7)
	START(Z8, Z9, Z10, Z11)
	START(Z12, Z13, Z14, Z15)
	START(Z16, Z17, Z18, Z19)
	START(Z20, Z21, Z22, Z23)

loop:
	VMOVDQU32 (BX), Z24
	VMOVDQU32 64(BX), Z25
	VMOVDQU32 128(BX), Z26
	VMOVDQU32 192(BX), Z27
	ROW((SI), Z0, Z1, Z2, Z3)
	ROW((SI)(R8*1), Z4, Z5, Z6, Z7)
	ROW((SI)(R8*2), Z8, Z9, Z10, Z11)
	ROW((DI), Z12, Z13, Z14, Z15)
	ROW((DI)(R8*1), Z16, Z17, Z18, Z19)
	ROW((DI)(R8*2), Z20, Z21, Z22, Z23)
	ADDQ $256, BX
	ADDQ $4, SI
	ADDQ $4, DI
	SUBQ $4, CX
	JNZ  loop

	MOVQ xScales+16(FP), AX
	MOVQ scales+40(FP), BX
	MOVQ bias+48(FP), DX
	MOVQ y+56(FP), R9
	MOVQ yStride+64(FP), R10
	SHLQ $2, R10
	VMOVUPS (BX), Z24
	VMOVUPS 64(BX), Z25
	VMOVUPS 128(BX), Z26
	VMOVUPS 192(BX), Z27
	FINISH((AX), Z0, Z1, Z2, Z3)
	FINISH(4(AX), Z4, Z5, Z6, Z7)
	FINISH(8(AX), Z8, Z9, Z10, Z11)
	FINISH(12(AX), Z12, Z13, Z14, Z15)
	FINISH(16(AX), Z16, Z17, Z18, Z19)
	FINISH(20(AX), Z20, Z21, Z22, Z23)
	VZEROUPPER
	RET

// Numbers of the functions below; each stands once and is copied to a whole register.
DATA numbers<>+0(SB)/4, $1.44269504 // log2 e
DATA numbers<>+4(SB)/4, $0.69314718 // ln 2
DATA numbers<>+8(SB)/4, $0.00138888889 // 1/6!
DATA numbers<>+12(SB)/4, $0.00833333333
DATA numbers<>+16(SB)/4, $0.0416666667
DATA numbers<>+20(SB)/4, $0.166666667
DATA numbers<>+24(SB)/4, $0.5
DATA numbers<>+28(SB)/4, $1.0
DATA numbers<>+32(SB)/4, $-87.0 // below it e^x is 0
DATA numbers<>+36(SB)/4, $0.231641889 // 0.3275911 / sqrt 2
DATA numbers<>+40(SB)/4, $0.5307027145 // of the error function (Abramowitz and Stegun 7.1.26), halved
DATA numbers<>+44(SB)/4, $-0.7265760135
DATA numbers<>+48(SB)/4, $0.7107068705
DATA numbers<>+52(SB)/4, $-0.142248368
DATA numbers<>+56(SB)/4, $0.127414796
DATA numbers<>+60(SB)/4, $-0.5
DATA numbers<>+64(SB)/4, $0x7FFFFFFF // all bits of a number but its sign
DATA numbers<>+68(SB)/4, $127.0
DATA numbers<>+72(SB)/4, $0x80808080
DATA numbers<>+76(SB)/4, $0.002604166667 // 1/384
GLOBL numbers<>(SB), RODATA|NOPTR, $80

// EXPNUMBERS loads what EXP needs into Z16 to Z24.
#define EXPNUMBERS \
	VBROADCASTSS numbers<>+0(SB), Z16  \
	VBROADCASTSS numbers<>+4(SB), Z17  \
	VBROADCASTSS numbers<>+8(SB), Z18  \
	VBROADCASTSS numbers<>+12(SB), Z19 \
	VBROADCASTSS numbers<>+16(SB), Z20 \
	VBROADCASTSS numbers<>+20(SB), Z21 \
	VBROADCASTSS numbers<>+24(SB), Z22 \
	VBROADCASTSS numbers<>+28(SB), Z23 \
	VBROADCASTSS numbers<>+32(SB), Z24

// EXP sets p to e^x for x <= 0: 2^n times a polynomial. It uses x and n.
#define EXP(x, n, p) \
	VMAXPS       Z24, x, x       \
	VMULPS       Z16, x, x       \
	VRNDSCALEPS  $0, x, n        \
	VSUBPS       n, x, x         \
	VMULPS       Z17, x, x       \
	VMOVAPS      Z18, p          \
	VFMADD213PS  Z19, x, p       \
	VFMADD213PS  Z20, x, p       \
	VFMADD213PS  Z21, x, p       \
	VFMADD213PS  Z22, x, p       \
	VFMADD213PS  Z23, x, p       \
	VFMADD213PS  Z23, x, p       \
	VSCALEFPS    n, p, p

// func softmaxAVX512(scores *float32, n int)
// What stands behind n, up to a multiple of 16, is overwritten.
TEXT ·softmaxAVX512(SB), NOSPLIT, $0-16
	MOVQ scores+0(FP), SI
	MOVQ n+8(FP), CX
	EXPNUMBERS
	MOVQ CX, AX
	ANDQ $15, AX
	JZ   whole
	MOVQ CX, DX
	ANDQ $-16, DX
	LEAQ (SI)(DX*4), DI
	MOVQ CX, R8
	MOVL $0xFFFF, BX
	MOVQ AX, CX
	SHLL CX, BX
	KMOVW BX, K1
	MOVQ R8, CX
	VMOVUPS (SI), X1 // some score: e^-87 of it adds nothing to a sum, and it is never the greatest
	VBROADCASTSS X1, Z1
	VADDPS Z24, Z1, Z1
	VMOVUPS Z1, K1, (DI)

whole:
	ADDQ $15, CX
	SHRQ $4, CX
	MOVQ CX, R8
	MOVQ SI, DI
	VMOVUPS (SI), Z0

greatest:
	VMAXPS (DI), Z0, Z0
	ADDQ $64, DI
	DECQ CX
	JNZ  greatest
	VEXTRACTF64X4 $1, Z0, Y1
	VMAXPS Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VMAXPS X1, X0, X0
	VPERMILPS $0x4E, X0, X1
	VMAXPS X1, X0, X0
	VPERMILPS $0xB1, X0, X1
	VMAXPS X1, X0, X0
	VBROADCASTSS X0, Z0
	VPXORD Z4, Z4, Z4
	MOVQ R8, CX
	MOVQ SI, DI

powers:
	VMOVUPS (DI), Z1
	VSUBPS Z0, Z1, Z1
	EXP(Z1, Z2, Z3)
	VADDPS Z3, Z4, Z4
	VMOVUPS Z3, (DI)
	ADDQ $64, DI
	DECQ CX
	JNZ  powers
	VEXTRACTF64X4 $1, Z4, Y1
	VADDPS Y1, Y4, Y4
	VEXTRACTF128 $1, Y4, X1
	VADDPS X1, X4, X4
	VPERMILPS $0x4E, X4, X1
	VADDPS X1, X4, X4
	VPERMILPS $0xB1, X4, X1
	VADDPS X1, X4, X4
	VDIVSS X4, X23, X4
	VBROADCASTSS X4, Z4

shares:
	VMULPS (SI), Z4, Z1
	VMOVUPS Z1, (SI)
	ADDQ $64, SI
	DECQ R8
	JNZ  shares
	VZEROUPPER
	RET

// func activateAVX512(values *float32, n int)
// GELU of n numbers, n a multiple of 16: max(x, 0) - |x| * erfc(|x| / sqrt 2) / 2.
TEXT ·activateAVX512(SB), NOSPLIT, $0-16
	MOVQ values+0(FP), SI
	MOVQ n+8(FP), CX
	EXPNUMBERS
	VBROADCASTSS numbers<>+36(SB), Z25
	VBROADCASTSS numbers<>+40(SB), Z26
	VBROADCASTSS numbers<>+44(SB), Z27
	VBROADCASTSS numbers<>+48(SB), Z28
	VBROADCASTSS numbers<>+52(SB), Z29
	VBROADCASTSS numbers<>+56(SB), Z30
	VBROADCASTSS numbers<>+60(SB), Z31
	VBROADCASTSS numbers<>+64(SB), Z15
	VPXORD Z14, Z14, Z14

next:
	VMOVUPS (SI), Z0
	VPANDD Z15, Z0, Z1        // |x|
	VMOVAPS Z25, Z2
	VFMADD213PS Z23, Z1, Z2
	VDIVPS Z2, Z23, Z2        // t
	VMULPS Z1, Z1, Z3
	VMULPS Z31, Z3, Z3
	EXP(Z3, Z4, Z5)
	VMOVAPS Z26, Z6
	VFMADD213PS Z27, Z2, Z6
	VFMADD213PS Z28, Z2, Z6
	VFMADD213PS Z29, Z2, Z6
	VFMADD213PS Z30, Z2, Z6
	VMULPS Z2, Z6, Z6
	VMULPS Z5, Z6, Z6
	VMAXPS Z14, Z0, Z0
	VFNMADD231PS Z1, Z6, Z0
	VMOVUPS Z0, (SI)
	ADDQ $64, SI
	SUBQ $16, CX
	JNZ  next
	VZEROUPPER
	RET

// func quantiseAVX512(out *uint8, x *float32, n int) float32
// n is a multiple of 16. It returns what one step of the bytes is worth; 128 stands for 0.
TEXT ·quantiseAVX512(SB), NOSPLIT, $0-28
	MOVQ out+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSS numbers<>+64(SB), Z15
	VPXORD Z0, Z0, Z0
	MOVQ CX, DX
	MOVQ SI, BX

most:
	VPANDD (BX), Z15, Z1
	VMAXPS Z1, Z0, Z0
	ADDQ $64, BX
	SUBQ $16, DX
	JNZ  most
	VEXTRACTF64X4 $1, Z0, Y1
	VMAXPS Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VMAXPS X1, X0, X0
	VPERMILPS $0x4E, X0, X1
	VMAXPS X1, X0, X0
	VPERMILPS $0xB1, X0, X1
	VMAXPS X1, X0, X0
	VMOVSS numbers<>+68(SB), X2
	VDIVSS X2, X0, X1
	VMOVSS X1, ret+24(FP)
	VXORPS X3, X3, X3
	VUCOMISS X3, X0
	JE   zero
	VDIVSS X0, X2, X2
	JMP  scale

zero:
	VXORPS X2, X2, X2

scale:
	VBROADCASTSS X2, Z2
	VPBROADCASTD numbers<>+72(SB), X5

bytes:
	VMULPS (SI), Z2, Z1
	VCVTPS2DQ Z1, Z1
	VPMOVSDB Z1, X1
	VPXOR X5, X1, X1
	VMOVDQU X1, (DI)
	ADDQ $64, SI
	ADDQ $16, DI
	SUBQ $16, CX
	JNZ  bytes
	VZEROUPPER
	RET

// func addNormAVX512(row, more, weight, bias *float32)
// Rows of 384: row becomes the norm of row + more.
TEXT ·addNormAVX512(SB), NOSPLIT, $0-32
	MOVQ row+0(FP), SI
	MOVQ more+8(FP), DI
	MOVQ weight+16(FP), BX
	MOVQ bias+24(FP), DX
	VPXORD Z0, Z0, Z0
	MOVQ $0, CX

add:
	VMOVUPS (SI)(CX*1), Z1
	VADDPS (DI)(CX*1), Z1, Z1
	VMOVUPS Z1, (SI)(CX*1)
	VADDPS Z1, Z0, Z0
	ADDQ $64, CX
	CMPQ CX, $1536
	JNE  add
	VEXTRACTF64X4 $1, Z0, Y1
	VADDPS Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS X1, X0, X0
	VPERMILPS $0x4E, X0, X1
	VADDPS X1, X0, X0
	VPERMILPS $0xB1, X0, X1
	VADDPS X1, X0, X0
	VMULSS numbers<>+76(SB), X0, X0
	VBROADCASTSS X0, Z0 // the mean
	VPXORD Z2, Z2, Z2
	MOVQ $0, CX

squares:
	VMOVUPS (SI)(CX*1), Z1
	VSUBPS Z0, Z1, Z1
	VFMADD231PS Z1, Z1, Z2
	ADDQ $64, CX
	CMPQ CX, $1536
	JNE  squares
	VEXTRACTF64X4 $1, Z2, Y1
	VADDPS Y1, Y2, Y2
	VEXTRACTF128 $1, Y2, X1
	VADDPS X1, X2, X2
	VPERMILPS $0x4E, X2, X1
	VADDPS X1, X2, X2
	VPERMILPS $0xB1, X2, X1
	VADDPS X1, X2, X2
	VMULSS numbers<>+76(SB), X2, X2
	VSQRTSS X2, X2, X2
	VMOVSS numbers<>+28(SB), X3
	VDIVSS X2, X3, X2
	VBROADCASTSS X2, Z2
	MOVQ $0, CX

norm:
	VMOVUPS (SI)(CX*1), Z1
	VSUBPS Z0, Z1, Z1
	VMULPS Z2, Z1, Z1
	VMOVUPS (BX)(CX*1), Z3
	VFMADD213PS (DX)(CX*1), Z3, Z1
	VMOVUPS Z1, (SI)(CX*1)
	ADDQ $64, CX
	CMPQ CX, $1536
	JNE  norm
	VZEROUPPER
	RET
