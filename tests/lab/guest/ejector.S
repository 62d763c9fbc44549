/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest of one boot sector. It says "guest up" on COM1 and then does the one thing an
 * operating system is needed for in hot-unplug: it watches the ACPI PCI hotplug registers of
 * QEMU's q35 (docs/specs/acpi_pci_hotplug.rst) and ejects what the host asks back.
 * With -DDEAF it never answers, as a hung or driverless guest.
 */
#define COM1		0x3f8
#define PCIHP		0x0cc0		/* ACPI_PCIHP_ADDR_ICH9 */
#define PCIHP_UP	(PCIHP + 0x00)
#define PCIHP_DOWN	(PCIHP + 0x04)
#define PCIHP_EJECT	(PCIHP + 0x08)
#define PCIHP_SELECT	(PCIHP + 0x10)
#define BUSES		32

	.code16
	.text
	.globl	_start
_start:
	cli
	ljmp	$0, $1f
1:	xorw	%ax, %ax
	movw	%ax, %ds
	movw	%ax, %ss
	movw	$0x7c00, %sp

	movw	$(COM1 + 3), %dx	/* 115200 8n1 */
	movb	$0x83, %al
	outb	%al, %dx
	movw	$COM1, %dx
	movw	$0x0001, %ax
	outw	%ax, %dx
	movw	$(COM1 + 3), %dx
	movb	$0x03, %al
	outb	%al, %dx

	movw	$up, %si
	call	print

#ifdef DEAF
1:	hlt				/* interrupts are off: this is for ever */
	jmp	1b
#else
poll:
	sti				/* sleep until the next timer tick, 55 ms */
	hlt
	cli
	xorl	%ecx, %ecx
next_bus:
	movw	$PCIHP_SELECT, %dx
	movl	%ecx, %eax
	outl	%eax, %dx
	movw	$PCIHP_UP, %dx		/* reading takes the notice of arrivals */
	inl	%dx, %eax
	movl	%eax, %ebx
	movw	$PCIHP_DOWN, %dx
	inl	%dx, %eax
	testl	%ebx, %ebx
	jz	1f
	movw	$plugged, %si
	call	print
1:	testl	%eax, %eax
	jz	2f
	movl	%eax, %ebx		/* one slot at a time: the lowest bit */
	negl	%ebx
	andl	%ebx, %eax
	movw	$PCIHP_EJECT, %dx
	outl	%eax, %dx
	movw	$ejected, %si
	call	print
2:	incw	%cx
	cmpw	$BUSES, %cx
	jb	next_bus
	jmp	poll
#endif

print:					/* %si: text; keeps %eax */
	pushl	%eax
1:	lodsb
	testb	%al, %al
	jz	3f
	movw	$COM1, %dx
	outb	%al, %dx
	jmp	1b
3:	popl	%eax
	ret

up:		.asciz	"guest up\r\n"
plugged:	.asciz	"device plugged\r\n"
ejected:	.asciz	"device ejected\r\n"

	.org	510
	.word	0xaa55
