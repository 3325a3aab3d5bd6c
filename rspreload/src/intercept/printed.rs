// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! <stdio.h>: dprintf and its relatives, whose system calls cannot be intercepted. They are
//! variadic, so each is a few instructions: they hand the connection over, if the descriptor is
//! one, and jump to libc's function with all argument registers unchanged.
//!
//! # Safety
//! The registers that may hold arguments on x86-64 (System V) and AArch64 (AAPCS64) are kept around
//! one call; the jump goes to libc's function of the same name.
#![allow(unsafe_code)]

use crate::carrier::claim::detach;
use crate::sys::errno::fail;
use crate::sys::original;
use crate::table::descriptors;
use base::errno::Errno;
use core::arch::global_asm;
use libc::{c_int, c_uint, c_void};

/// Prepares a descriptor that is written to next, and returns where to jump.
extern "C" fn prepare(fd: c_int, index: c_uint) -> *const c_void {
    if !descriptors::is_unused() && detach(fd).is_err() {
        return refuse as *const c_void;
    }
    original::printing(index)
}

/// In place of libc's function, whatever its arguments are.
extern "C" fn refuse() -> c_int {
    fail(Errno::ENOMEM)
}

#[cfg(target_arch = "x86_64")]
macro_rules! trampoline {
    ($name:literal, $index:literal) => {
        global_asm!(
            ".text",
            concat!(".globl ", $name),
            concat!(".type ", $name, ", @function"),
            concat!($name, ":"),
            "endbr64",
            "push rbp",
            "mov rbp, rsp",
            "sub rsp, 192",
            "mov [rsp], rdi",
            "mov [rsp + 8], rsi",
            "mov [rsp + 16], rdx",
            "mov [rsp + 24], rcx",
            "mov [rsp + 32], r8",
            "mov [rsp + 40], r9",
            "mov [rsp + 48], rax",
            "movaps [rsp + 64], xmm0",
            "movaps [rsp + 80], xmm1",
            "movaps [rsp + 96], xmm2",
            "movaps [rsp + 112], xmm3",
            "movaps [rsp + 128], xmm4",
            "movaps [rsp + 144], xmm5",
            "movaps [rsp + 160], xmm6",
            "movaps [rsp + 176], xmm7",
            concat!("mov esi, ", $index),
            "call {prepare}",
            "mov r11, rax",
            "mov rdi, [rsp]",
            "mov rsi, [rsp + 8]",
            "mov rdx, [rsp + 16]",
            "mov rcx, [rsp + 24]",
            "mov r8, [rsp + 32]",
            "mov r9, [rsp + 40]",
            "mov rax, [rsp + 48]",
            "movaps xmm0, [rsp + 64]",
            "movaps xmm1, [rsp + 80]",
            "movaps xmm2, [rsp + 96]",
            "movaps xmm3, [rsp + 112]",
            "movaps xmm4, [rsp + 128]",
            "movaps xmm5, [rsp + 144]",
            "movaps xmm6, [rsp + 160]",
            "movaps xmm7, [rsp + 176]",
            "leave",
            "jmp r11",
            concat!(".size ", $name, ", . - ", $name),
            prepare = sym prepare,
        );
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! trampoline {
    ($name:literal, $index:literal) => {
        global_asm!(
            ".text",
            concat!(".globl ", $name),
            concat!(".type ", $name, ", %function"),
            concat!($name, ":"),
            "bti c",
            "stp x29, x30, [sp, #-208]!",
            "mov x29, sp",
            "stp x0, x1, [sp, #16]",
            "stp x2, x3, [sp, #32]",
            "stp x4, x5, [sp, #48]",
            "stp x6, x7, [sp, #64]",
            "stp q0, q1, [sp, #80]",
            "stp q2, q3, [sp, #112]",
            "stp q4, q5, [sp, #144]",
            "stp q6, q7, [sp, #176]",
            concat!("mov w1, #", $index),
            "bl {prepare}",
            "mov x16, x0",
            "ldp x0, x1, [sp, #16]",
            "ldp x2, x3, [sp, #32]",
            "ldp x4, x5, [sp, #48]",
            "ldp x6, x7, [sp, #64]",
            "ldp q0, q1, [sp, #80]",
            "ldp q2, q3, [sp, #112]",
            "ldp q4, q5, [sp, #144]",
            "ldp q6, q7, [sp, #176]",
            "ldp x29, x30, [sp], #208",
            "br x16",
            concat!(".size ", $name, ", . - ", $name),
            prepare = sym prepare,
        );
    };
}

// The numbers are indices of `original::printing`.
trampoline!("dprintf", "0");
trampoline!("vdprintf", "1");
trampoline!("__dprintf_chk", "2");
trampoline!("__vdprintf_chk", "3");
