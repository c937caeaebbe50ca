// SPDX-License-Identifier: MIT
/*
 * Limits DMA of AMD's display controllers to the first 4 GiB, as the kernel does for
 * devices behind VIA's PCI bridges (via_no_dac()). A driver that is loaded afterwards
 * allocates memory there. DMA from and to other memory goes through a bounce buffer
 * (swiotlb).
 *
 * With swiotlb=force radeon does not come up: TTM maps up to 1 MiB at once, and a
 * bounce buffer is contiguous up to 256 KiB only.
 */
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/pci.h>

static int __init dma32_init(void)
{
	struct pci_dev *pdev = NULL;

	while ((pdev = pci_get_class(PCI_CLASS_DISPLAY_VGA << 8, pdev))) {
		if (pdev->vendor == PCI_VENDOR_ID_ATI)
			pdev->dev.bus_dma_limit = DMA_BIT_MASK(32);
	}

	return 0;
}
module_init(dma32_init);

static void __exit dma32_exit(void)
{
}
module_exit(dma32_exit);

MODULE_DESCRIPTION("Limit DMA of display controllers to 32 bits");
MODULE_LICENSE("Dual MIT/GPL");
