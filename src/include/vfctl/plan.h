/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBVFCTL_PLAN_H
#define LIBVFCTL_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vfctl/change.h"
#include "vfctl/guest.h"
#include "vfctl/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file
 * Plans: one function for each verb of vfctl(8). A plan checks everything that can be checked
 * beforehand and returns a change; nothing on the host is changed before vfctl_change_run(). A
 * change without steps means that the host is already as requested, so a call can be repeated
 * safely.
 *
 * These rules hold for all plans. The session must outlive the change. If @p dry_run is false, the
 * plan takes the locks that the run needs, and a plan that uses values of pools needs a session
 * that was opened with write=on. If @p dry_run is true, the plan takes no locks, and the change
 * cannot be run. vfctl/vfctl.h describes @p options. Besides the errors below, each plan may return
 * -EROFS (the host is a capture), -EACCES (this user lacks the privileges), -EBUSY (another process
 * holds the lock) or -EINVAL (an option is not valid, or the plan needs libvirt and the session is
 * not connected to it).
 */

/**
 * Plan to give a PF a number of VFs, each with a stable MAC or GUID and bound for passthrough. If
 * the PF already has that many VFs, it keeps them, and only VFs with another driver are bound
 * again. Otherwise all VFs are replaced, so the plan is rejected while one of them is in use.
 *
 * | option | value | default |
 * |---|---|---|
 * | driver | vfio-pci, host (the VFs' own driver) or none | vfio-pci |
 * | keep-identities | on: keep the MACs and GUIDs that the driver chose | off |
 * | guid-pool | pool for the GUIDs of InfiniBand VFs | the pool that derives from this PF |
 * | pkey | partition of InfiniBand VFs: name, or 0x1 to 0x7fff | none |
 * | ignore-definitions | domains that are off and may lose their VFs, separated by commas | none |
 * | a VF attribute except mac, guid, node-guid, port-guid, msix | for all new VFs | not set |
 *
 * @param pf     name of the PF.
 * @param count  number of VFs, 1 to vfctl_pf_total_vfs().
 * @param ret    receives the change; free it with vfctl_change_free().
 * @return 0; -ENOENT: there is no such PF; -ERANGE: the count is 0 or above the limit; -EBUSY: a VF
 * is in use, and the message names its holder; -EEXIST: the PF keeps its VFs, and one of them has
 * another attribute than requested; -EOPNOTSUPP: the driver cannot create VFs through sysfs (mlx4),
 * or the host has no IOMMU for vfio-pci.
 * @since 0.1
 */
int vfctl_plan_create(struct vfctl_session *session, const char *pf, uint32_t count,
	const char *const options[], bool dry_run, struct vfctl_change **ret);

/**
 * Plan to remove all VFs of a PF.
 *
 * | option | value | default |
 * |---|---|---|
 * | ignore-definitions | domains that are off and may lose their VFs, separated by commas | none |
 *
 * @param pf   name of the PF.
 * @param ret  receives the change; free it with vfctl_change_free().
 * @return 0; -ENOENT: there is no such PF; -EBUSY: a VF is in use, and the message names its
 * holder.
 * @since 0.1
 */
int vfctl_plan_destroy(struct vfctl_session *session, const char *pf, const char *const options[],
	bool dry_run, struct vfctl_change **ret);

/**
 * Plan to set attributes of VFs of one PF, for all of these VFs or for none.
 *
 * | option | value | default |
 * |---|---|---|
 * | a VF attribute | see vfctl_attr_key() | not changed |
 * | live | on: change also VFs of a running domain, until it stops | off |
 * | config | on: change the lease and definition of the VF's domain, for its next start | off |
 *
 * @param vfs      names of one or more VFs ("PF/INDEX" or PCI address), NULL-terminated.
 * @param options  at least one attribute.
 * @param ret      receives the change; free it with vfctl_change_free().
 * @return 0; -ENOENT: there is no such VF; -EINVAL: a key or a value is not valid, attributes
 * contradict each other, or the VFs belong to different PFs; -ERANGE: a number is outside its
 * range; -EEXIST: the MAC or GUID belongs to another owner; -EBUSY: the MAC, GUIDs or vectors of a
 * VF in use would change, or the VF belongs to a running domain and neither live nor config is
 * given; -EOPNOTSUPP: the driver does not support the attribute.
 * @since 0.1
 */
int vfctl_plan_set(struct vfctl_session *session, const char *const vfs[],
	const char *const options[], bool dry_run, struct vfctl_change **ret);

/**
 * Plan to change the interrupt moderation of a PF until the next reboot. Declare it in host.yaml to
 * keep it. If the driver does not accept a value, the nearest value that it accepts is set.
 *
 * | option | value | default |
 * |---|---|---|
 * | profile | a tuning profile: latency, throughput, or one of host.yaml | none |
 * | a setting of ethtool -C | "rx-usecs", "adaptive-rx" and so on | as the profile says |
 * | force | on: set it also if the driver resets the PF while guests use its VFs | off |
 *
 * @param pf       name of the PF.
 * @param options  a profile, settings, or both.
 * @param ret      receives the change; free it with vfctl_change_free().
 * @return 0; -ENOENT: there is no such PF or profile; -EINVAL: a setting or its value is not valid;
 * -EOPNOTSUPP: the driver supports none of the settings; -ENODEV: the PF has no network device in
 * this network namespace; -EBUSY: the driver would reset the PF, and guests use its VFs.
 * @since 0.1
 */
int vfctl_plan_tune(struct vfctl_session *session, const char *pf, const char *const options[],
	bool dry_run, struct vfctl_change **ret);

/** The comparison of the host with host.yaml: one entry for the host, each PF and each VF-LAG. */
struct vfctl_declaration;

/**
 * Compare the host with host.yaml. This takes no locks and changes nothing. A problem with one PF
 * is the error of its entry and does not affect the other entries.
 *
 * @param session  must outlive the result.
 * @param ret      receives the comparison; free it with vfctl_declaration_free().
 * @return 0; -EEXIST: two entries of host.yaml match the same PF.
 * @since 0.1
 */
int vfctl_declaration_read(struct vfctl_session *session, struct vfctl_declaration **ret);

/**
 * Free a comparison with its dry runs.
 *
 * @param declaration  may be NULL.
 * @since 0.1
 */
void vfctl_declaration_free(struct vfctl_declaration *declaration);

/**
 * A member of an entry, as a string. The entries are in the order in which they have to be applied:
 * the host (huge pages, kernel settings), then the PFs, then the VF-LAGs, both in the order of
 * host.yaml.
 *
 * | key | value |
 * |---|---|
 * | kind | "host", "pf" or "lag" |
 * | name | name of the PF as in host.yaml, or of the bond; "host" for the host |
 * | address | PCI address of the PF, if it is on this host |
 * | error | why the entry cannot be applied |
 * | kept | differences that remain while a guest uses the VF |
 *
 * @param index  position of the entry, starting at 0.
 * @param key    one of the keys above.
 * @return a string owned by the comparison; NULL past the last entry, and if the entry has no such
 * value.
 * @since 0.1
 */
const char *vfctl_declaration_get(const struct vfctl_declaration *declaration, size_t index,
	const char *key);

/**
 * The dry run of an entry. It has no steps if the host is as declared.
 *
 * @param index  position of the entry, starting at 0.
 * @return a change owned by the comparison; NULL past the last entry, for an entry with an error,
 * and for a PF that is not managed.
 * @since 0.1
 */
const struct vfctl_change *vfctl_declaration_change(const struct vfctl_declaration *declaration,
	size_t index);

/**
 * Plan to bring one entry of host.yaml to its declared state. The change is not a dry run. Each
 * entry has its own locks.
 *
 * @param index  position of the entry, starting at 0.
 * @param ret    receives the change; free it with vfctl_change_free().
 * @return 0; -EAGAIN: the entry now matches another PF; call vfctl_declaration_read() again;
 * -ENOENT: there is no such entry, or it matches no PF of this host; or an errno of
 * vfctl_plan_create(), vfctl_plan_destroy() or vfctl_plan_set().
 * @since 0.1
 */
int vfctl_plan_apply(struct vfctl_session *session, const struct vfctl_declaration *declaration,
	size_t index, struct vfctl_change **ret);

/**
 * Plan to lease what a guest needs and to define it in libvirt. If the domain is already defined,
 * it is changed to what the guest now asks for. It keeps its UUID, its identities and its placement
 * where the guest permits that. Needs libvirt.
 *
 * | option | value | default |
 * |---|---|---|
 * | template | domain XML to complete: path, or name of an installed template | that of the guest |
 *
 * @param guest  must outlive the change; it is given a UUID if it has none.
 * @param ret    receives the change; free it with vfctl_change_free().
 * @return 0; -ENOSPC: the guest does not fit; vfctl_ctx_reason() says what is short and what would
 * help; -ENOENT: a PF or template that the guest names does not exist; -EEXIST: libvirt has a
 * domain of that name or UUID that vfctl did not define, or that another program changed; -EBUSY:
 * the domain runs, and the hook did not see its start.
 * @since 0.1
 */
int vfctl_plan_define(struct vfctl_session *session, struct vfctl_guest *guest,
	const char *const options[], bool dry_run, struct vfctl_change **ret);

/**
 * Plan to undefine a domain that is off, and to release what it holds. After libvirt has removed
 * the definition, the change is finished instead of rolled back. If libvirt does not have the
 * domain any more, only its lease is ended. Needs libvirt.
 *
 * | option | value | default |
 * |---|---|---|
 * | force | on: undefine also a domain that vfctl did not define | off |
 * | nvram | on: remove its firmware variables too | off |
 * | managed-save | on: remove its saved memory too | off |
 * | snapshots-metadata | on: remove libvirt's metadata of its snapshots too | off |
 *
 * @param domain  name or UUID.
 * @param ret     receives the change; free it with vfctl_change_free().
 * @return 0; -EBUSY: the domain runs, or it has saved memory or snapshots that no option removes;
 * -EPERM: vfctl did not define it.
 * @since 0.1
 */
int vfctl_plan_undefine(struct vfctl_session *session, const char *domain,
	const char *const options[], bool dry_run, struct vfctl_change **ret);

/**
 * Plan to give VFs to an existing domain, all of them or none: lease them, set and verify their
 * identities, then plug them in. Needs libvirt.
 *
 * | option | value | default |
 * |---|---|---|
 * | pf | take any free VF of this PF | pf or vf is required |
 * | vf | take this VF: "PF/INDEX" or PCI address | pf or vf is required |
 * | count | number of VFs of the PF, 1 to 64 | 1 |
 * | ensure | on: count the VFs that the domain already has | off |
 * | live, config | on: change the running domain; its definition | both, where possible |
 * | guid-pool, mac-pool | pool of host.yaml for the GUIDs; for the MAC | the first of its kind |
 * | pkey | partition: name, or 0x1 to 0x7fff | none |
 * | form | auto, interface or hostdev | auto |
 * | a VF attribute | see vfctl_attr_key() | spoofchk=on trust=off |
 *
 * @param domain  name or UUID.
 * @param ret     receives the change; free it with vfctl_change_free().
 * @return 0; -ENOENT: there is no such domain, PF or VF; -EBUSY: no VF is free, or the VF is in use
 * or leased; the message names the holder; -EEXIST: with ensure, the domain has the VF with other
 * attributes; -ENOSPC: the domain has no free PCIe root port; -EINVAL: live is given and the domain
 * is off.
 * @since 0.1
 */
int vfctl_plan_attach(struct vfctl_session *session, const char *domain,
	const char *const options[], bool dry_run, struct vfctl_change **ret);

/**
 * Plan to detach a VF from a domain: unplug it, wait until the guest has released it, restore it
 * and end its lease. The change has no steps if the domain does not have the VF. Needs libvirt.
 *
 * | option | value | default |
 * |---|---|---|
 * | vf | "PF/INDEX" or PCI address | the only VF that the domain has |
 * | live, config | on: change the running domain; its definition | both, where possible |
 * | wait | how long the guest may take to release the device, 1 to 3600 s | 30 |
 *
 * @param domain  name or UUID.
 * @param ret     receives the change; free it with vfctl_change_free().
 * @return 0; -ENOENT: there is no such domain or VF; -EINVAL: live is given and the domain is off,
 * or no VF is named and the domain has several.
 * @since 0.1
 */
int vfctl_plan_detach(struct vfctl_session *session, const char *domain,
	const char *const options[], bool dry_run, struct vfctl_change **ret);

/**
 * Plan to carry out the move that vfctl plan --rebalance proposes for a guest. The guest keeps its
 * UUID, MACs, GUIDs and policies. A running guest moves at its next start. The change has no steps
 * if no move is proposed. Needs libvirt.
 *
 * @param domain  name or UUID.
 * @param ret     receives the change; free it with vfctl_change_free().
 * @return 0; an errno of vfctl_plan_define(); -ENOENT: there is no such domain; -EEXIST: vfctl did
 * not define the domain, or its guest.yaml is not known.
 * @since 0.1
 */
int vfctl_plan_move(struct vfctl_session *session, const char *domain, bool dry_run,
	struct vfctl_change **ret);

/**
 * Plan to adopt a domain that another tool defined: lease to it the VFs of its definition. Its
 * devices are not changed. Needs libvirt.
 *
 * | option | value | default |
 * |---|---|---|
 * | undo | on: end the lease and remove the metadata; the domain stays | off |
 *
 * @param domain  name or UUID. The domain may be running, except with undo.
 * @param ret     receives the change; free it with vfctl_change_free().
 * @return 0; -ENOENT: there is no such domain; -EBUSY: a VF is leased to or used by another domain,
 * or the domain runs (with undo); -EINVAL: the domain is transient, or takes VFs from a libvirt
 * network; -EEXIST: its MAC or GUID belongs to another owner; -EPERM: with undo, vfctl defined the
 * domain.
 * @since 0.1
 */
int vfctl_plan_adopt(struct vfctl_session *session, const char *domain,
	const char *const options[], bool dry_run, struct vfctl_change **ret);

/**
 * Plan to restore the VFs of a domain that is off to their state before its last run, if the hook
 * did not do that. The domain keeps its definition and its lease. If the session is not connected
 * to libvirt, libvirt's files are read instead.
 *
 * @param domain  name or UUID. The change has no steps for a domain without a lease.
 * @param ret     receives the change; free it with vfctl_change_free().
 * @return 0; -EBUSY: the domain runs.
 * @since 0.1
 */
int vfctl_plan_release(struct vfctl_session *session, const char *domain, bool dry_run,
	struct vfctl_change **ret);

/**
 * Plan to install vfctl's libvirt hook, or to remove it, and to make libvirt's daemon read its
 * hooks again.
 *
 * @param install  true to install the hook, false to remove it.
 * @param ret      receives the change, which is not a dry run; free it with vfctl_change_free().
 * @return 0; -ENOENT: the hook program is not installed with this vfctl; -EACCES: this user lacks
 * the privileges.
 * @since 0.1
 */
int vfctl_plan_hook(struct vfctl_session *session, bool install, struct vfctl_change **ret);

#ifdef __cplusplus
}
#endif
#endif
