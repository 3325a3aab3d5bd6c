// Made by `make bindings` from the headers of libibverbs 1.14.44.0.
use crate::*;

pub type __time_t = ::core::ffi::c_long;
pub type __syscall_slong_t = ::core::ffi::c_long;
pub type __socklen_t = ::core::ffi::c_uint;
pub type __u16 = ::core::ffi::c_ushort;
pub type __u32 = ::core::ffi::c_uint;
pub type __u64 = ::core::ffi::c_ulonglong;
pub type __be16 = __u16;
pub type __be32 = __u32;
pub type __be64 = __u64;
impl ib_uverbs_access_flags {
    pub const IB_UVERBS_ACCESS_LOCAL_WRITE: ib_uverbs_access_flags = ib_uverbs_access_flags(1);
    pub const IB_UVERBS_ACCESS_REMOTE_WRITE: ib_uverbs_access_flags = ib_uverbs_access_flags(2);
    pub const IB_UVERBS_ACCESS_REMOTE_READ: ib_uverbs_access_flags = ib_uverbs_access_flags(4);
    pub const IB_UVERBS_ACCESS_REMOTE_ATOMIC: ib_uverbs_access_flags = ib_uverbs_access_flags(8);
    pub const IB_UVERBS_ACCESS_MW_BIND: ib_uverbs_access_flags = ib_uverbs_access_flags(16);
    pub const IB_UVERBS_ACCESS_ZERO_BASED: ib_uverbs_access_flags = ib_uverbs_access_flags(32);
    pub const IB_UVERBS_ACCESS_ON_DEMAND: ib_uverbs_access_flags = ib_uverbs_access_flags(64);
    pub const IB_UVERBS_ACCESS_HUGETLB: ib_uverbs_access_flags = ib_uverbs_access_flags(128);
    pub const IB_UVERBS_ACCESS_RELAXED_ORDERING: ib_uverbs_access_flags =
        ib_uverbs_access_flags(1048576);
    pub const IB_UVERBS_ACCESS_OPTIONAL_RANGE: ib_uverbs_access_flags =
        ib_uverbs_access_flags(1072693248);
}
impl ::core::ops::BitOr<ib_uverbs_access_flags> for ib_uverbs_access_flags {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ib_uverbs_access_flags(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ib_uverbs_access_flags {
    #[inline]
    fn bitor_assign(&mut self, rhs: ib_uverbs_access_flags) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ib_uverbs_access_flags> for ib_uverbs_access_flags {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ib_uverbs_access_flags(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ib_uverbs_access_flags {
    #[inline]
    fn bitand_assign(&mut self, rhs: ib_uverbs_access_flags) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ib_uverbs_access_flags(pub ::core::ffi::c_uint);
pub mod ib_uverbs_flow_action_esp_keymat {
    #[allow(unused_imports)]
    use super::*;
    pub type Type = ::core::ffi::c_uint;
    pub const IB_UVERBS_FLOW_ACTION_ESP_KEYMAT_AES_GCM: Type = 0;
}
pub mod ib_uverbs_flow_action_esp_replay {
    #[allow(unused_imports)]
    use super::*;
    pub type Type = ::core::ffi::c_uint;
    pub const IB_UVERBS_FLOW_ACTION_ESP_REPLAY_NONE: Type = 0;
    pub const IB_UVERBS_FLOW_ACTION_ESP_REPLAY_BMP: Type = 1;
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ib_uverbs_flow_action_esp_encap {
    pub __bindgen_anon_1: ib_uverbs_flow_action_esp_encap__bindgen_ty_1,
    pub __bindgen_anon_2: ib_uverbs_flow_action_esp_encap__bindgen_ty_2,
    pub len: __u16,
    pub type_: __u16,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub union ib_uverbs_flow_action_esp_encap__bindgen_ty_1 {
    pub val_ptr: *mut ::core::ffi::c_void,
    pub val_ptr_data_u64: __u64,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub union ib_uverbs_flow_action_esp_encap__bindgen_ty_2 {
    pub next_ptr: *mut ib_uverbs_flow_action_esp_encap,
    pub next_ptr_data_u64: __u64,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ib_uverbs_flow_action_esp {
    pub spi: __u32,
    pub seq: __u32,
    pub tfc_pad: __u32,
    pub flags: __u32,
    pub hard_limit_pkts: __u64,
}
pub mod ib_uverbs_advise_mr_advice {
    #[allow(unused_imports)]
    use super::*;
    pub type Type = ::core::ffi::c_uint;
    pub const IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH: Type = 0;
    pub const IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE: Type = 1;
    pub const IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT: Type = 2;
}
pub mod rdma_driver_id {
    #[allow(unused_imports)]
    use super::*;
    pub type Type = ::core::ffi::c_uint;
    pub const RDMA_DRIVER_UNKNOWN: Type = 0;
    pub const RDMA_DRIVER_MLX5: Type = 1;
    pub const RDMA_DRIVER_MLX4: Type = 2;
    pub const RDMA_DRIVER_CXGB3: Type = 3;
    pub const RDMA_DRIVER_CXGB4: Type = 4;
    pub const RDMA_DRIVER_MTHCA: Type = 5;
    pub const RDMA_DRIVER_BNXT_RE: Type = 6;
    pub const RDMA_DRIVER_OCRDMA: Type = 7;
    pub const RDMA_DRIVER_NES: Type = 8;
    pub const RDMA_DRIVER_I40IW: Type = 9;
    pub const RDMA_DRIVER_IRDMA: Type = 9;
    pub const RDMA_DRIVER_VMW_PVRDMA: Type = 10;
    pub const RDMA_DRIVER_QEDR: Type = 11;
    pub const RDMA_DRIVER_HNS: Type = 12;
    pub const RDMA_DRIVER_USNIC: Type = 13;
    pub const RDMA_DRIVER_RXE: Type = 14;
    pub const RDMA_DRIVER_HFI1: Type = 15;
    pub const RDMA_DRIVER_QIB: Type = 16;
    pub const RDMA_DRIVER_EFA: Type = 17;
    pub const RDMA_DRIVER_SIW: Type = 18;
    pub const RDMA_DRIVER_ERDMA: Type = 19;
    pub const RDMA_DRIVER_MANA: Type = 20;
}
pub mod ibv_gid_type {
    #[allow(unused_imports)]
    use super::*;
    pub type Type = ::core::ffi::c_uint;
    pub const IBV_GID_TYPE_IB: Type = 0;
    pub const IBV_GID_TYPE_ROCE_V1: Type = 1;
    pub const IBV_GID_TYPE_ROCE_V2: Type = 2;
}
#[repr(C)]
pub struct ibv_gid_entry {
    pub gid: ibv_gid,
    pub gid_index: u32,
    pub port_num: u32,
    pub gid_type: u32,
    pub ndev_ifindex: u32,
}
pub mod ibv_node_type {
    #[allow(unused_imports)]
    use super::*;
    pub type Type = ::core::ffi::c_int;
    pub const IBV_NODE_UNKNOWN: Type = -1;
    pub const IBV_NODE_CA: Type = 1;
    pub const IBV_NODE_SWITCH: Type = 2;
    pub const IBV_NODE_ROUTER: Type = 3;
    pub const IBV_NODE_RNIC: Type = 4;
    pub const IBV_NODE_USNIC: Type = 5;
    pub const IBV_NODE_USNIC_UDP: Type = 6;
    pub const IBV_NODE_UNSPECIFIED: Type = 7;
}
pub mod ibv_transport_type {
    #[allow(unused_imports)]
    use super::*;
    pub type Type = ::core::ffi::c_int;
    pub const IBV_TRANSPORT_UNKNOWN: Type = -1;
    pub const IBV_TRANSPORT_IB: Type = 0;
    pub const IBV_TRANSPORT_IWARP: Type = 1;
    pub const IBV_TRANSPORT_USNIC: Type = 2;
    pub const IBV_TRANSPORT_USNIC_UDP: Type = 3;
    pub const IBV_TRANSPORT_UNSPECIFIED: Type = 4;
}
impl ibv_device_cap_flags {
    pub const IBV_DEVICE_RESIZE_MAX_WR: ibv_device_cap_flags = ibv_device_cap_flags(1);
    pub const IBV_DEVICE_BAD_PKEY_CNTR: ibv_device_cap_flags = ibv_device_cap_flags(2);
    pub const IBV_DEVICE_BAD_QKEY_CNTR: ibv_device_cap_flags = ibv_device_cap_flags(4);
    pub const IBV_DEVICE_RAW_MULTI: ibv_device_cap_flags = ibv_device_cap_flags(8);
    pub const IBV_DEVICE_AUTO_PATH_MIG: ibv_device_cap_flags = ibv_device_cap_flags(16);
    pub const IBV_DEVICE_CHANGE_PHY_PORT: ibv_device_cap_flags = ibv_device_cap_flags(32);
    pub const IBV_DEVICE_UD_AV_PORT_ENFORCE: ibv_device_cap_flags = ibv_device_cap_flags(64);
    pub const IBV_DEVICE_CURR_QP_STATE_MOD: ibv_device_cap_flags = ibv_device_cap_flags(128);
    pub const IBV_DEVICE_SHUTDOWN_PORT: ibv_device_cap_flags = ibv_device_cap_flags(256);
    pub const IBV_DEVICE_INIT_TYPE: ibv_device_cap_flags = ibv_device_cap_flags(512);
    pub const IBV_DEVICE_PORT_ACTIVE_EVENT: ibv_device_cap_flags = ibv_device_cap_flags(1024);
    pub const IBV_DEVICE_SYS_IMAGE_GUID: ibv_device_cap_flags = ibv_device_cap_flags(2048);
    pub const IBV_DEVICE_RC_RNR_NAK_GEN: ibv_device_cap_flags = ibv_device_cap_flags(4096);
    pub const IBV_DEVICE_SRQ_RESIZE: ibv_device_cap_flags = ibv_device_cap_flags(8192);
    pub const IBV_DEVICE_N_NOTIFY_CQ: ibv_device_cap_flags = ibv_device_cap_flags(16384);
    pub const IBV_DEVICE_MEM_WINDOW: ibv_device_cap_flags = ibv_device_cap_flags(131072);
    pub const IBV_DEVICE_UD_IP_CSUM: ibv_device_cap_flags = ibv_device_cap_flags(262144);
    pub const IBV_DEVICE_XRC: ibv_device_cap_flags = ibv_device_cap_flags(1048576);
    pub const IBV_DEVICE_MEM_MGT_EXTENSIONS: ibv_device_cap_flags = ibv_device_cap_flags(2097152);
    pub const IBV_DEVICE_MEM_WINDOW_TYPE_2A: ibv_device_cap_flags = ibv_device_cap_flags(8388608);
    pub const IBV_DEVICE_MEM_WINDOW_TYPE_2B: ibv_device_cap_flags = ibv_device_cap_flags(16777216);
    pub const IBV_DEVICE_RC_IP_CSUM: ibv_device_cap_flags = ibv_device_cap_flags(33554432);
    pub const IBV_DEVICE_RAW_IP_CSUM: ibv_device_cap_flags = ibv_device_cap_flags(67108864);
    pub const IBV_DEVICE_MANAGED_FLOW_STEERING: ibv_device_cap_flags =
        ibv_device_cap_flags(536870912);
}
impl ::core::ops::BitOr<ibv_device_cap_flags> for ibv_device_cap_flags {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_device_cap_flags(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_device_cap_flags {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_device_cap_flags) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_device_cap_flags> for ibv_device_cap_flags {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_device_cap_flags(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_device_cap_flags {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_device_cap_flags) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_device_cap_flags(pub ::core::ffi::c_uint);
pub mod ibv_fork_status {
    #[allow(unused_imports)]
    use super::*;
    pub type Type = ::core::ffi::c_uint;
    pub const IBV_FORK_DISABLED: Type = 0;
    pub const IBV_FORK_ENABLED: Type = 1;
    pub const IBV_FORK_UNNEEDED: Type = 2;
}
pub mod ibv_atomic_cap {
    #[allow(unused_imports)]
    use super::*;
    pub type Type = ::core::ffi::c_uint;
    pub const IBV_ATOMIC_NONE: Type = 0;
    pub const IBV_ATOMIC_HCA: Type = 1;
    pub const IBV_ATOMIC_GLOB: Type = 2;
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_alloc_dm_attr {
    pub length: usize,
    pub log_align_req: u32,
    pub comp_mask: u32,
}
impl ibv_dm_mask {
    pub const IBV_DM_MASK_HANDLE: ibv_dm_mask = ibv_dm_mask(1);
}
impl ::core::ops::BitOr<ibv_dm_mask> for ibv_dm_mask {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_dm_mask(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_dm_mask {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_dm_mask) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_dm_mask> for ibv_dm_mask {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_dm_mask(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_dm_mask {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_dm_mask) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_dm_mask(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_dm {
    pub context: *mut ibv_context,
    pub memcpy_to_dm: ::core::option::Option<
        unsafe extern "C" fn(
            dm: *mut ibv_dm,
            dm_offset: u64,
            host_addr: *const ::core::ffi::c_void,
            length: usize,
        ) -> ::core::ffi::c_int,
    >,
    pub memcpy_from_dm: ::core::option::Option<
        unsafe extern "C" fn(
            host_addr: *mut ::core::ffi::c_void,
            dm: *mut ibv_dm,
            dm_offset: u64,
            length: usize,
        ) -> ::core::ffi::c_int,
    >,
    pub comp_mask: u32,
    pub handle: u32,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_device_attr {
    pub fw_ver: [::core::ffi::c_char; 64usize],
    pub node_guid: __be64,
    pub sys_image_guid: __be64,
    pub max_mr_size: u64,
    pub page_size_cap: u64,
    pub vendor_id: u32,
    pub vendor_part_id: u32,
    pub hw_ver: u32,
    pub max_qp: ::core::ffi::c_int,
    pub max_qp_wr: ::core::ffi::c_int,
    pub device_cap_flags: ::core::ffi::c_uint,
    pub max_sge: ::core::ffi::c_int,
    pub max_sge_rd: ::core::ffi::c_int,
    pub max_cq: ::core::ffi::c_int,
    pub max_cqe: ::core::ffi::c_int,
    pub max_mr: ::core::ffi::c_int,
    pub max_pd: ::core::ffi::c_int,
    pub max_qp_rd_atom: ::core::ffi::c_int,
    pub max_ee_rd_atom: ::core::ffi::c_int,
    pub max_res_rd_atom: ::core::ffi::c_int,
    pub max_qp_init_rd_atom: ::core::ffi::c_int,
    pub max_ee_init_rd_atom: ::core::ffi::c_int,
    pub atomic_cap: ibv_atomic_cap::Type,
    pub max_ee: ::core::ffi::c_int,
    pub max_rdd: ::core::ffi::c_int,
    pub max_mw: ::core::ffi::c_int,
    pub max_raw_ipv6_qp: ::core::ffi::c_int,
    pub max_raw_ethy_qp: ::core::ffi::c_int,
    pub max_mcast_grp: ::core::ffi::c_int,
    pub max_mcast_qp_attach: ::core::ffi::c_int,
    pub max_total_mcast_qp_attach: ::core::ffi::c_int,
    pub max_ah: ::core::ffi::c_int,
    pub max_fmr: ::core::ffi::c_int,
    pub max_map_per_fmr: ::core::ffi::c_int,
    pub max_srq: ::core::ffi::c_int,
    pub max_srq_wr: ::core::ffi::c_int,
    pub max_srq_sge: ::core::ffi::c_int,
    pub max_pkeys: u16,
    pub local_ca_ack_delay: u8,
    pub phys_port_cnt: u8,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_query_device_ex_input {
    pub comp_mask: u32,
}
impl ibv_odp_transport_cap_bits {
    pub const IBV_ODP_SUPPORT_SEND: ibv_odp_transport_cap_bits = ibv_odp_transport_cap_bits(1);
    pub const IBV_ODP_SUPPORT_RECV: ibv_odp_transport_cap_bits = ibv_odp_transport_cap_bits(2);
    pub const IBV_ODP_SUPPORT_WRITE: ibv_odp_transport_cap_bits = ibv_odp_transport_cap_bits(4);
    pub const IBV_ODP_SUPPORT_READ: ibv_odp_transport_cap_bits = ibv_odp_transport_cap_bits(8);
    pub const IBV_ODP_SUPPORT_ATOMIC: ibv_odp_transport_cap_bits = ibv_odp_transport_cap_bits(16);
    pub const IBV_ODP_SUPPORT_SRQ_RECV: ibv_odp_transport_cap_bits = ibv_odp_transport_cap_bits(32);
}
impl ::core::ops::BitOr<ibv_odp_transport_cap_bits> for ibv_odp_transport_cap_bits {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_odp_transport_cap_bits(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_odp_transport_cap_bits {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_odp_transport_cap_bits) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_odp_transport_cap_bits> for ibv_odp_transport_cap_bits {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_odp_transport_cap_bits(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_odp_transport_cap_bits {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_odp_transport_cap_bits) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_odp_transport_cap_bits(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_odp_caps {
    pub general_caps: u64,
    pub per_transport_caps: ibv_odp_caps__bindgen_ty_1,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_odp_caps__bindgen_ty_1 {
    pub rc_odp_caps: u32,
    pub uc_odp_caps: u32,
    pub ud_odp_caps: u32,
}
impl ibv_odp_general_caps {
    pub const IBV_ODP_SUPPORT: ibv_odp_general_caps = ibv_odp_general_caps(1);
    pub const IBV_ODP_SUPPORT_IMPLICIT: ibv_odp_general_caps = ibv_odp_general_caps(2);
}
impl ::core::ops::BitOr<ibv_odp_general_caps> for ibv_odp_general_caps {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_odp_general_caps(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_odp_general_caps {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_odp_general_caps) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_odp_general_caps> for ibv_odp_general_caps {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_odp_general_caps(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_odp_general_caps {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_odp_general_caps) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_odp_general_caps(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_tso_caps {
    pub max_tso: u32,
    pub supported_qpts: u32,
}
impl ibv_rx_hash_function_flags {
    pub const IBV_RX_HASH_FUNC_TOEPLITZ: ibv_rx_hash_function_flags = ibv_rx_hash_function_flags(1);
}
impl ::core::ops::BitOr<ibv_rx_hash_function_flags> for ibv_rx_hash_function_flags {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_rx_hash_function_flags(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_rx_hash_function_flags {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_rx_hash_function_flags) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_rx_hash_function_flags> for ibv_rx_hash_function_flags {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_rx_hash_function_flags(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_rx_hash_function_flags {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_rx_hash_function_flags) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_rx_hash_function_flags(pub ::core::ffi::c_uint);
impl ibv_rx_hash_fields {
    pub const IBV_RX_HASH_SRC_IPV4: ibv_rx_hash_fields = ibv_rx_hash_fields(1);
    pub const IBV_RX_HASH_DST_IPV4: ibv_rx_hash_fields = ibv_rx_hash_fields(2);
    pub const IBV_RX_HASH_SRC_IPV6: ibv_rx_hash_fields = ibv_rx_hash_fields(4);
    pub const IBV_RX_HASH_DST_IPV6: ibv_rx_hash_fields = ibv_rx_hash_fields(8);
    pub const IBV_RX_HASH_SRC_PORT_TCP: ibv_rx_hash_fields = ibv_rx_hash_fields(16);
    pub const IBV_RX_HASH_DST_PORT_TCP: ibv_rx_hash_fields = ibv_rx_hash_fields(32);
    pub const IBV_RX_HASH_SRC_PORT_UDP: ibv_rx_hash_fields = ibv_rx_hash_fields(64);
    pub const IBV_RX_HASH_DST_PORT_UDP: ibv_rx_hash_fields = ibv_rx_hash_fields(128);
    pub const IBV_RX_HASH_IPSEC_SPI: ibv_rx_hash_fields = ibv_rx_hash_fields(256);
    pub const IBV_RX_HASH_INNER: ibv_rx_hash_fields = ibv_rx_hash_fields(2147483648);
}
impl ::core::ops::BitOr<ibv_rx_hash_fields> for ibv_rx_hash_fields {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_rx_hash_fields(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_rx_hash_fields {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_rx_hash_fields) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_rx_hash_fields> for ibv_rx_hash_fields {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_rx_hash_fields(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_rx_hash_fields {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_rx_hash_fields) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_rx_hash_fields(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_rss_caps {
    pub supported_qpts: u32,
    pub max_rwq_indirection_tables: u32,
    pub max_rwq_indirection_table_size: u32,
    pub rx_hash_fields_mask: u64,
    pub rx_hash_function: u8,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_packet_pacing_caps {
    pub qp_rate_limit_min: u32,
    pub qp_rate_limit_max: u32,
    pub supported_qpts: u32,
}
impl ibv_raw_packet_caps {
    pub const IBV_RAW_PACKET_CAP_CVLAN_STRIPPING: ibv_raw_packet_caps = ibv_raw_packet_caps(1);
    pub const IBV_RAW_PACKET_CAP_SCATTER_FCS: ibv_raw_packet_caps = ibv_raw_packet_caps(2);
    pub const IBV_RAW_PACKET_CAP_IP_CSUM: ibv_raw_packet_caps = ibv_raw_packet_caps(4);
    pub const IBV_RAW_PACKET_CAP_DELAY_DROP: ibv_raw_packet_caps = ibv_raw_packet_caps(8);
}
impl ::core::ops::BitOr<ibv_raw_packet_caps> for ibv_raw_packet_caps {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_raw_packet_caps(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_raw_packet_caps {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_raw_packet_caps) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_raw_packet_caps> for ibv_raw_packet_caps {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_raw_packet_caps(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_raw_packet_caps {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_raw_packet_caps) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_raw_packet_caps(pub ::core::ffi::c_uint);
impl ibv_tm_cap_flags {
    pub const IBV_TM_CAP_RC: ibv_tm_cap_flags = ibv_tm_cap_flags(1);
}
impl ::core::ops::BitOr<ibv_tm_cap_flags> for ibv_tm_cap_flags {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_tm_cap_flags(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_tm_cap_flags {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_tm_cap_flags) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_tm_cap_flags> for ibv_tm_cap_flags {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_tm_cap_flags(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_tm_cap_flags {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_tm_cap_flags) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_tm_cap_flags(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_tm_caps {
    pub max_rndv_hdr_size: u32,
    pub max_num_tags: u32,
    pub flags: u32,
    pub max_ops: u32,
    pub max_sge: u32,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_cq_moderation_caps {
    pub max_cq_count: u16,
    pub max_cq_period: u16,
}
impl ibv_pci_atomic_op_size {
    pub const IBV_PCI_ATOMIC_OPERATION_4_BYTE_SIZE_SUP: ibv_pci_atomic_op_size =
        ibv_pci_atomic_op_size(1);
    pub const IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP: ibv_pci_atomic_op_size =
        ibv_pci_atomic_op_size(2);
    pub const IBV_PCI_ATOMIC_OPERATION_16_BYTE_SIZE_SUP: ibv_pci_atomic_op_size =
        ibv_pci_atomic_op_size(4);
}
impl ::core::ops::BitOr<ibv_pci_atomic_op_size> for ibv_pci_atomic_op_size {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_pci_atomic_op_size(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_pci_atomic_op_size {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_pci_atomic_op_size) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_pci_atomic_op_size> for ibv_pci_atomic_op_size {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_pci_atomic_op_size(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_pci_atomic_op_size {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_pci_atomic_op_size) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_pci_atomic_op_size(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_pci_atomic_caps {
    pub fetch_add: u16,
    pub swap: u16,
    pub compare_swap: u16,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_device_attr_ex {
    pub orig_attr: ibv_device_attr,
    pub comp_mask: u32,
    pub odp_caps: ibv_odp_caps,
    pub completion_timestamp_mask: u64,
    pub hca_core_clock: u64,
    pub device_cap_flags_ex: u64,
    pub tso_caps: ibv_tso_caps,
    pub rss_caps: ibv_rss_caps,
    pub max_wq_type_rq: u32,
    pub packet_pacing_caps: ibv_packet_pacing_caps,
    pub raw_packet_caps: u32,
    pub tm_caps: ibv_tm_caps,
    pub cq_mod_caps: ibv_cq_moderation_caps,
    pub max_dm_size: u64,
    pub pci_atomic_caps: ibv_pci_atomic_caps,
    pub xrc_odp_caps: u32,
    pub phys_port_cnt_ex: u32,
}
pub mod ibv_mtu {
    #[allow(unused_imports)]
    use super::*;
    pub type Type = ::core::ffi::c_uint;
    pub const IBV_MTU_256: Type = 1;
    pub const IBV_MTU_512: Type = 2;
    pub const IBV_MTU_1024: Type = 3;
    pub const IBV_MTU_2048: Type = 4;
    pub const IBV_MTU_4096: Type = 5;
}
pub mod ibv_port_state {
    #[allow(unused_imports)]
    use super::*;
    pub type Type = ::core::ffi::c_uint;
    pub const IBV_PORT_NOP: Type = 0;
    pub const IBV_PORT_DOWN: Type = 1;
    pub const IBV_PORT_INIT: Type = 2;
    pub const IBV_PORT_ARMED: Type = 3;
    pub const IBV_PORT_ACTIVE: Type = 4;
    pub const IBV_PORT_ACTIVE_DEFER: Type = 5;
}
impl ibv_port_cap_flags {
    pub const IBV_PORT_SM: ibv_port_cap_flags = ibv_port_cap_flags(2);
    pub const IBV_PORT_NOTICE_SUP: ibv_port_cap_flags = ibv_port_cap_flags(4);
    pub const IBV_PORT_TRAP_SUP: ibv_port_cap_flags = ibv_port_cap_flags(8);
    pub const IBV_PORT_OPT_IPD_SUP: ibv_port_cap_flags = ibv_port_cap_flags(16);
    pub const IBV_PORT_AUTO_MIGR_SUP: ibv_port_cap_flags = ibv_port_cap_flags(32);
    pub const IBV_PORT_SL_MAP_SUP: ibv_port_cap_flags = ibv_port_cap_flags(64);
    pub const IBV_PORT_MKEY_NVRAM: ibv_port_cap_flags = ibv_port_cap_flags(128);
    pub const IBV_PORT_PKEY_NVRAM: ibv_port_cap_flags = ibv_port_cap_flags(256);
    pub const IBV_PORT_LED_INFO_SUP: ibv_port_cap_flags = ibv_port_cap_flags(512);
    pub const IBV_PORT_SYS_IMAGE_GUID_SUP: ibv_port_cap_flags = ibv_port_cap_flags(2048);
    pub const IBV_PORT_PKEY_SW_EXT_PORT_TRAP_SUP: ibv_port_cap_flags = ibv_port_cap_flags(4096);
    pub const IBV_PORT_EXTENDED_SPEEDS_SUP: ibv_port_cap_flags = ibv_port_cap_flags(16384);
    pub const IBV_PORT_CAP_MASK2_SUP: ibv_port_cap_flags = ibv_port_cap_flags(32768);
    pub const IBV_PORT_CM_SUP: ibv_port_cap_flags = ibv_port_cap_flags(65536);
    pub const IBV_PORT_SNMP_TUNNEL_SUP: ibv_port_cap_flags = ibv_port_cap_flags(131072);
    pub const IBV_PORT_REINIT_SUP: ibv_port_cap_flags = ibv_port_cap_flags(262144);
    pub const IBV_PORT_DEVICE_MGMT_SUP: ibv_port_cap_flags = ibv_port_cap_flags(524288);
    pub const IBV_PORT_VENDOR_CLASS_SUP: ibv_port_cap_flags = ibv_port_cap_flags(1048576);
    pub const IBV_PORT_DR_NOTICE_SUP: ibv_port_cap_flags = ibv_port_cap_flags(2097152);
    pub const IBV_PORT_CAP_MASK_NOTICE_SUP: ibv_port_cap_flags = ibv_port_cap_flags(4194304);
    pub const IBV_PORT_BOOT_MGMT_SUP: ibv_port_cap_flags = ibv_port_cap_flags(8388608);
    pub const IBV_PORT_LINK_LATENCY_SUP: ibv_port_cap_flags = ibv_port_cap_flags(16777216);
    pub const IBV_PORT_CLIENT_REG_SUP: ibv_port_cap_flags = ibv_port_cap_flags(33554432);
    pub const IBV_PORT_IP_BASED_GIDS: ibv_port_cap_flags = ibv_port_cap_flags(67108864);
}
impl ::core::ops::BitOr<ibv_port_cap_flags> for ibv_port_cap_flags {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_port_cap_flags(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_port_cap_flags {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_port_cap_flags) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_port_cap_flags> for ibv_port_cap_flags {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_port_cap_flags(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_port_cap_flags {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_port_cap_flags) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_port_cap_flags(pub ::core::ffi::c_uint);
impl ibv_port_cap_flags2 {
    pub const IBV_PORT_SET_NODE_DESC_SUP: ibv_port_cap_flags2 = ibv_port_cap_flags2(1);
    pub const IBV_PORT_INFO_EXT_SUP: ibv_port_cap_flags2 = ibv_port_cap_flags2(2);
    pub const IBV_PORT_VIRT_SUP: ibv_port_cap_flags2 = ibv_port_cap_flags2(4);
    pub const IBV_PORT_SWITCH_PORT_STATE_TABLE_SUP: ibv_port_cap_flags2 = ibv_port_cap_flags2(8);
    pub const IBV_PORT_LINK_WIDTH_2X_SUP: ibv_port_cap_flags2 = ibv_port_cap_flags2(16);
    pub const IBV_PORT_LINK_SPEED_HDR_SUP: ibv_port_cap_flags2 = ibv_port_cap_flags2(32);
    pub const IBV_PORT_LINK_SPEED_NDR_SUP: ibv_port_cap_flags2 = ibv_port_cap_flags2(1024);
}
impl ::core::ops::BitOr<ibv_port_cap_flags2> for ibv_port_cap_flags2 {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_port_cap_flags2(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_port_cap_flags2 {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_port_cap_flags2) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_port_cap_flags2> for ibv_port_cap_flags2 {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_port_cap_flags2(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_port_cap_flags2 {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_port_cap_flags2) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_port_cap_flags2(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_port_attr {
    pub state: ibv_port_state::Type,
    pub max_mtu: ibv_mtu::Type,
    pub active_mtu: ibv_mtu::Type,
    pub gid_tbl_len: ::core::ffi::c_int,
    pub port_cap_flags: u32,
    pub max_msg_sz: u32,
    pub bad_pkey_cntr: u32,
    pub qkey_viol_cntr: u32,
    pub pkey_tbl_len: u16,
    pub lid: u16,
    pub sm_lid: u16,
    pub lmc: u8,
    pub max_vl_num: u8,
    pub sm_sl: u8,
    pub subnet_timeout: u8,
    pub init_type_reply: u8,
    pub active_width: u8,
    pub active_speed: u8,
    pub phys_state: u8,
    pub link_layer: u8,
    pub flags: u8,
    pub port_cap_flags2: u16,
}
#[repr(u32)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub enum ibv_event_type {
    IBV_EVENT_CQ_ERR = 0,
    IBV_EVENT_QP_FATAL = 1,
    IBV_EVENT_QP_REQ_ERR = 2,
    IBV_EVENT_QP_ACCESS_ERR = 3,
    IBV_EVENT_COMM_EST = 4,
    IBV_EVENT_SQ_DRAINED = 5,
    IBV_EVENT_PATH_MIG = 6,
    IBV_EVENT_PATH_MIG_ERR = 7,
    IBV_EVENT_DEVICE_FATAL = 8,
    IBV_EVENT_PORT_ACTIVE = 9,
    IBV_EVENT_PORT_ERR = 10,
    IBV_EVENT_LID_CHANGE = 11,
    IBV_EVENT_PKEY_CHANGE = 12,
    IBV_EVENT_SM_CHANGE = 13,
    IBV_EVENT_SRQ_ERR = 14,
    IBV_EVENT_SRQ_LIMIT_REACHED = 15,
    IBV_EVENT_QP_LAST_WQE_REACHED = 16,
    IBV_EVENT_CLIENT_REREGISTER = 17,
    IBV_EVENT_GID_CHANGE = 18,
    IBV_EVENT_WQ_FATAL = 19,
}
pub mod ibv_wc_status {
    #[allow(unused_imports)]
    use super::*;
    pub type Type = ::core::ffi::c_uint;
    pub const IBV_WC_SUCCESS: Type = 0;
    pub const IBV_WC_LOC_LEN_ERR: Type = 1;
    pub const IBV_WC_LOC_QP_OP_ERR: Type = 2;
    pub const IBV_WC_LOC_EEC_OP_ERR: Type = 3;
    pub const IBV_WC_LOC_PROT_ERR: Type = 4;
    pub const IBV_WC_WR_FLUSH_ERR: Type = 5;
    pub const IBV_WC_MW_BIND_ERR: Type = 6;
    pub const IBV_WC_BAD_RESP_ERR: Type = 7;
    pub const IBV_WC_LOC_ACCESS_ERR: Type = 8;
    pub const IBV_WC_REM_INV_REQ_ERR: Type = 9;
    pub const IBV_WC_REM_ACCESS_ERR: Type = 10;
    pub const IBV_WC_REM_OP_ERR: Type = 11;
    pub const IBV_WC_RETRY_EXC_ERR: Type = 12;
    pub const IBV_WC_RNR_RETRY_EXC_ERR: Type = 13;
    pub const IBV_WC_LOC_RDD_VIOL_ERR: Type = 14;
    pub const IBV_WC_REM_INV_RD_REQ_ERR: Type = 15;
    pub const IBV_WC_REM_ABORT_ERR: Type = 16;
    pub const IBV_WC_INV_EECN_ERR: Type = 17;
    pub const IBV_WC_INV_EEC_STATE_ERR: Type = 18;
    pub const IBV_WC_FATAL_ERR: Type = 19;
    pub const IBV_WC_RESP_TIMEOUT_ERR: Type = 20;
    pub const IBV_WC_GENERAL_ERR: Type = 21;
    pub const IBV_WC_TM_ERR: Type = 22;
    pub const IBV_WC_TM_RNDV_INCOMPLETE: Type = 23;
}
unsafe extern "C" {
    pub fn ibv_wc_status_str(status: ibv_wc_status::Type) -> *const ::core::ffi::c_char;
}
pub mod ibv_wc_opcode {
    #[allow(unused_imports)]
    use super::*;
    pub type Type = ::core::ffi::c_uint;
    pub const IBV_WC_SEND: Type = 0;
    pub const IBV_WC_RDMA_WRITE: Type = 1;
    pub const IBV_WC_RDMA_READ: Type = 2;
    pub const IBV_WC_COMP_SWAP: Type = 3;
    pub const IBV_WC_FETCH_ADD: Type = 4;
    pub const IBV_WC_BIND_MW: Type = 5;
    pub const IBV_WC_LOCAL_INV: Type = 6;
    pub const IBV_WC_TSO: Type = 7;
    pub const IBV_WC_ATOMIC_WRITE: Type = 9;
    pub const IBV_WC_RECV: Type = 128;
    pub const IBV_WC_RECV_RDMA_WITH_IMM: Type = 129;
    pub const IBV_WC_TM_ADD: Type = 130;
    pub const IBV_WC_TM_DEL: Type = 131;
    pub const IBV_WC_TM_SYNC: Type = 132;
    pub const IBV_WC_TM_RECV: Type = 133;
    pub const IBV_WC_TM_NO_TAG: Type = 134;
    pub const IBV_WC_DRIVER1: Type = 135;
    pub const IBV_WC_DRIVER2: Type = 136;
    pub const IBV_WC_DRIVER3: Type = 137;
}
impl ibv_create_cq_wc_flags {
    pub const IBV_WC_EX_WITH_BYTE_LEN: ibv_create_cq_wc_flags = ibv_create_cq_wc_flags(1);
    pub const IBV_WC_EX_WITH_IMM: ibv_create_cq_wc_flags = ibv_create_cq_wc_flags(2);
    pub const IBV_WC_EX_WITH_QP_NUM: ibv_create_cq_wc_flags = ibv_create_cq_wc_flags(4);
    pub const IBV_WC_EX_WITH_SRC_QP: ibv_create_cq_wc_flags = ibv_create_cq_wc_flags(8);
    pub const IBV_WC_EX_WITH_SLID: ibv_create_cq_wc_flags = ibv_create_cq_wc_flags(16);
    pub const IBV_WC_EX_WITH_SL: ibv_create_cq_wc_flags = ibv_create_cq_wc_flags(32);
    pub const IBV_WC_EX_WITH_DLID_PATH_BITS: ibv_create_cq_wc_flags = ibv_create_cq_wc_flags(64);
    pub const IBV_WC_EX_WITH_COMPLETION_TIMESTAMP: ibv_create_cq_wc_flags =
        ibv_create_cq_wc_flags(128);
    pub const IBV_WC_EX_WITH_CVLAN: ibv_create_cq_wc_flags = ibv_create_cq_wc_flags(256);
    pub const IBV_WC_EX_WITH_FLOW_TAG: ibv_create_cq_wc_flags = ibv_create_cq_wc_flags(512);
    pub const IBV_WC_EX_WITH_TM_INFO: ibv_create_cq_wc_flags = ibv_create_cq_wc_flags(1024);
    pub const IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK: ibv_create_cq_wc_flags =
        ibv_create_cq_wc_flags(2048);
}
impl ::core::ops::BitOr<ibv_create_cq_wc_flags> for ibv_create_cq_wc_flags {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_create_cq_wc_flags(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_create_cq_wc_flags {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_create_cq_wc_flags) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_create_cq_wc_flags> for ibv_create_cq_wc_flags {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_create_cq_wc_flags(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_create_cq_wc_flags {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_create_cq_wc_flags) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_create_cq_wc_flags(pub ::core::ffi::c_uint);
impl ibv_wc_flags {
    pub const IBV_WC_GRH: ibv_wc_flags = ibv_wc_flags(1);
    pub const IBV_WC_WITH_IMM: ibv_wc_flags = ibv_wc_flags(2);
    pub const IBV_WC_IP_CSUM_OK: ibv_wc_flags = ibv_wc_flags(4);
    pub const IBV_WC_WITH_INV: ibv_wc_flags = ibv_wc_flags(8);
    pub const IBV_WC_TM_SYNC_REQ: ibv_wc_flags = ibv_wc_flags(16);
    pub const IBV_WC_TM_MATCH: ibv_wc_flags = ibv_wc_flags(32);
    pub const IBV_WC_TM_DATA_VALID: ibv_wc_flags = ibv_wc_flags(64);
}
impl ::core::ops::BitOr<ibv_wc_flags> for ibv_wc_flags {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_wc_flags(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_wc_flags {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_wc_flags) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_wc_flags> for ibv_wc_flags {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_wc_flags(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_wc_flags {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_wc_flags) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_wc_flags(pub ::core::ffi::c_uint);
impl ibv_access_flags {
    pub const IBV_ACCESS_LOCAL_WRITE: ibv_access_flags = ibv_access_flags(1);
    pub const IBV_ACCESS_REMOTE_WRITE: ibv_access_flags = ibv_access_flags(2);
    pub const IBV_ACCESS_REMOTE_READ: ibv_access_flags = ibv_access_flags(4);
    pub const IBV_ACCESS_REMOTE_ATOMIC: ibv_access_flags = ibv_access_flags(8);
    pub const IBV_ACCESS_MW_BIND: ibv_access_flags = ibv_access_flags(16);
    pub const IBV_ACCESS_ZERO_BASED: ibv_access_flags = ibv_access_flags(32);
    pub const IBV_ACCESS_ON_DEMAND: ibv_access_flags = ibv_access_flags(64);
    pub const IBV_ACCESS_HUGETLB: ibv_access_flags = ibv_access_flags(128);
    pub const IBV_ACCESS_RELAXED_ORDERING: ibv_access_flags = ibv_access_flags(1048576);
}
impl ::core::ops::BitOr<ibv_access_flags> for ibv_access_flags {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_access_flags(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_access_flags {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_access_flags) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_access_flags> for ibv_access_flags {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_access_flags(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_access_flags {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_access_flags) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_access_flags(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_pd {
    pub context: *mut ibv_context,
    pub handle: u32,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_td_init_attr {
    pub comp_mask: u32,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_td {
    pub context: *mut ibv_context,
}
impl ibv_xrcd_init_attr_mask {
    pub const IBV_XRCD_INIT_ATTR_FD: ibv_xrcd_init_attr_mask = ibv_xrcd_init_attr_mask(1);
    pub const IBV_XRCD_INIT_ATTR_OFLAGS: ibv_xrcd_init_attr_mask = ibv_xrcd_init_attr_mask(2);
    pub const IBV_XRCD_INIT_ATTR_RESERVED: ibv_xrcd_init_attr_mask = ibv_xrcd_init_attr_mask(4);
}
impl ::core::ops::BitOr<ibv_xrcd_init_attr_mask> for ibv_xrcd_init_attr_mask {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_xrcd_init_attr_mask(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_xrcd_init_attr_mask {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_xrcd_init_attr_mask) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_xrcd_init_attr_mask> for ibv_xrcd_init_attr_mask {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_xrcd_init_attr_mask(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_xrcd_init_attr_mask {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_xrcd_init_attr_mask) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_xrcd_init_attr_mask(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_xrcd_init_attr {
    pub comp_mask: u32,
    pub fd: ::core::ffi::c_int,
    pub oflags: ::core::ffi::c_int,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_xrcd {
    pub context: *mut ibv_context,
}
impl ibv_rereg_mr_flags {
    pub const IBV_REREG_MR_CHANGE_TRANSLATION: ibv_rereg_mr_flags = ibv_rereg_mr_flags(1);
    pub const IBV_REREG_MR_CHANGE_PD: ibv_rereg_mr_flags = ibv_rereg_mr_flags(2);
    pub const IBV_REREG_MR_CHANGE_ACCESS: ibv_rereg_mr_flags = ibv_rereg_mr_flags(4);
    pub const IBV_REREG_MR_FLAGS_SUPPORTED: ibv_rereg_mr_flags = ibv_rereg_mr_flags(7);
}
impl ::core::ops::BitOr<ibv_rereg_mr_flags> for ibv_rereg_mr_flags {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_rereg_mr_flags(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_rereg_mr_flags {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_rereg_mr_flags) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_rereg_mr_flags> for ibv_rereg_mr_flags {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_rereg_mr_flags(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_rereg_mr_flags {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_rereg_mr_flags) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_rereg_mr_flags(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_mr {
    pub context: *mut ibv_context,
    pub pd: *mut ibv_pd,
    pub addr: *mut ::core::ffi::c_void,
    pub length: usize,
    pub handle: u32,
    pub lkey: u32,
    pub rkey: u32,
}
pub mod ibv_mw_type {
    #[allow(unused_imports)]
    use super::*;
    pub type Type = ::core::ffi::c_uint;
    pub const IBV_MW_TYPE_1: Type = 1;
    pub const IBV_MW_TYPE_2: Type = 2;
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_mw {
    pub context: *mut ibv_context,
    pub pd: *mut ibv_pd,
    pub rkey: u32,
    pub handle: u32,
    pub type_: ibv_mw_type::Type,
}
#[repr(C)]
pub struct ibv_grh {
    pub version_tclass_flow: __be32,
    pub paylen: __be16,
    pub next_hdr: u8,
    pub hop_limit: u8,
    pub sgid: ibv_gid,
    pub dgid: ibv_gid,
}
pub mod ibv_rate {
    #[allow(unused_imports)]
    use super::*;
    pub type Type = ::core::ffi::c_uint;
    pub const IBV_RATE_MAX: Type = 0;
    pub const IBV_RATE_2_5_GBPS: Type = 2;
    pub const IBV_RATE_5_GBPS: Type = 5;
    pub const IBV_RATE_10_GBPS: Type = 3;
    pub const IBV_RATE_20_GBPS: Type = 6;
    pub const IBV_RATE_30_GBPS: Type = 4;
    pub const IBV_RATE_40_GBPS: Type = 7;
    pub const IBV_RATE_60_GBPS: Type = 8;
    pub const IBV_RATE_80_GBPS: Type = 9;
    pub const IBV_RATE_120_GBPS: Type = 10;
    pub const IBV_RATE_14_GBPS: Type = 11;
    pub const IBV_RATE_56_GBPS: Type = 12;
    pub const IBV_RATE_112_GBPS: Type = 13;
    pub const IBV_RATE_168_GBPS: Type = 14;
    pub const IBV_RATE_25_GBPS: Type = 15;
    pub const IBV_RATE_100_GBPS: Type = 16;
    pub const IBV_RATE_200_GBPS: Type = 17;
    pub const IBV_RATE_300_GBPS: Type = 18;
    pub const IBV_RATE_28_GBPS: Type = 19;
    pub const IBV_RATE_50_GBPS: Type = 20;
    pub const IBV_RATE_400_GBPS: Type = 21;
    pub const IBV_RATE_600_GBPS: Type = 22;
    pub const IBV_RATE_800_GBPS: Type = 23;
    pub const IBV_RATE_1200_GBPS: Type = 24;
}
unsafe extern "C" {
    pub fn ibv_rate_to_mult(rate: ibv_rate::Type) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ibv_rate_to_mbps(rate: ibv_rate::Type) -> ::core::ffi::c_int;
}
impl ibv_srq_attr_mask {
    pub const IBV_SRQ_MAX_WR: ibv_srq_attr_mask = ibv_srq_attr_mask(1);
    pub const IBV_SRQ_LIMIT: ibv_srq_attr_mask = ibv_srq_attr_mask(2);
}
impl ::core::ops::BitOr<ibv_srq_attr_mask> for ibv_srq_attr_mask {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_srq_attr_mask(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_srq_attr_mask {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_srq_attr_mask) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_srq_attr_mask> for ibv_srq_attr_mask {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_srq_attr_mask(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_srq_attr_mask {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_srq_attr_mask) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_srq_attr_mask(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_srq_attr {
    pub max_wr: u32,
    pub max_sge: u32,
    pub srq_limit: u32,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_srq_init_attr {
    pub srq_context: *mut ::core::ffi::c_void,
    pub attr: ibv_srq_attr,
}
pub mod ibv_srq_type {
    #[allow(unused_imports)]
    use super::*;
    pub type Type = ::core::ffi::c_uint;
    pub const IBV_SRQT_BASIC: Type = 0;
    pub const IBV_SRQT_XRC: Type = 1;
    pub const IBV_SRQT_TM: Type = 2;
}
impl ibv_srq_init_attr_mask {
    pub const IBV_SRQ_INIT_ATTR_TYPE: ibv_srq_init_attr_mask = ibv_srq_init_attr_mask(1);
    pub const IBV_SRQ_INIT_ATTR_PD: ibv_srq_init_attr_mask = ibv_srq_init_attr_mask(2);
    pub const IBV_SRQ_INIT_ATTR_XRCD: ibv_srq_init_attr_mask = ibv_srq_init_attr_mask(4);
    pub const IBV_SRQ_INIT_ATTR_CQ: ibv_srq_init_attr_mask = ibv_srq_init_attr_mask(8);
    pub const IBV_SRQ_INIT_ATTR_TM: ibv_srq_init_attr_mask = ibv_srq_init_attr_mask(16);
    pub const IBV_SRQ_INIT_ATTR_RESERVED: ibv_srq_init_attr_mask = ibv_srq_init_attr_mask(32);
}
impl ::core::ops::BitOr<ibv_srq_init_attr_mask> for ibv_srq_init_attr_mask {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_srq_init_attr_mask(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_srq_init_attr_mask {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_srq_init_attr_mask) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_srq_init_attr_mask> for ibv_srq_init_attr_mask {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_srq_init_attr_mask(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_srq_init_attr_mask {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_srq_init_attr_mask) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_srq_init_attr_mask(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_tm_cap {
    pub max_num_tags: u32,
    pub max_ops: u32,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_srq_init_attr_ex {
    pub srq_context: *mut ::core::ffi::c_void,
    pub attr: ibv_srq_attr,
    pub comp_mask: u32,
    pub srq_type: ibv_srq_type::Type,
    pub pd: *mut ibv_pd,
    pub xrcd: *mut ibv_xrcd,
    pub cq: *mut ibv_cq,
    pub tm_cap: ibv_tm_cap,
}
pub mod ibv_wq_type {
    #[allow(unused_imports)]
    use super::*;
    pub type Type = ::core::ffi::c_uint;
    pub const IBV_WQT_RQ: Type = 0;
}
impl ibv_wq_init_attr_mask {
    pub const IBV_WQ_INIT_ATTR_FLAGS: ibv_wq_init_attr_mask = ibv_wq_init_attr_mask(1);
    pub const IBV_WQ_INIT_ATTR_RESERVED: ibv_wq_init_attr_mask = ibv_wq_init_attr_mask(2);
}
impl ::core::ops::BitOr<ibv_wq_init_attr_mask> for ibv_wq_init_attr_mask {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_wq_init_attr_mask(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_wq_init_attr_mask {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_wq_init_attr_mask) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_wq_init_attr_mask> for ibv_wq_init_attr_mask {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_wq_init_attr_mask(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_wq_init_attr_mask {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_wq_init_attr_mask) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_wq_init_attr_mask(pub ::core::ffi::c_uint);
impl ibv_wq_flags {
    pub const IBV_WQ_FLAGS_CVLAN_STRIPPING: ibv_wq_flags = ibv_wq_flags(1);
    pub const IBV_WQ_FLAGS_SCATTER_FCS: ibv_wq_flags = ibv_wq_flags(2);
    pub const IBV_WQ_FLAGS_DELAY_DROP: ibv_wq_flags = ibv_wq_flags(4);
    pub const IBV_WQ_FLAGS_PCI_WRITE_END_PADDING: ibv_wq_flags = ibv_wq_flags(8);
    pub const IBV_WQ_FLAGS_RESERVED: ibv_wq_flags = ibv_wq_flags(16);
}
impl ::core::ops::BitOr<ibv_wq_flags> for ibv_wq_flags {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_wq_flags(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_wq_flags {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_wq_flags) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_wq_flags> for ibv_wq_flags {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_wq_flags(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_wq_flags {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_wq_flags) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_wq_flags(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_wq_init_attr {
    pub wq_context: *mut ::core::ffi::c_void,
    pub wq_type: ibv_wq_type::Type,
    pub max_wr: u32,
    pub max_sge: u32,
    pub pd: *mut ibv_pd,
    pub cq: *mut ibv_cq,
    pub comp_mask: u32,
    pub create_flags: u32,
}
pub mod ibv_wq_state {
    #[allow(unused_imports)]
    use super::*;
    pub type Type = ::core::ffi::c_uint;
    pub const IBV_WQS_RESET: Type = 0;
    pub const IBV_WQS_RDY: Type = 1;
    pub const IBV_WQS_ERR: Type = 2;
    pub const IBV_WQS_UNKNOWN: Type = 3;
}
impl ibv_wq_attr_mask {
    pub const IBV_WQ_ATTR_STATE: ibv_wq_attr_mask = ibv_wq_attr_mask(1);
    pub const IBV_WQ_ATTR_CURR_STATE: ibv_wq_attr_mask = ibv_wq_attr_mask(2);
    pub const IBV_WQ_ATTR_FLAGS: ibv_wq_attr_mask = ibv_wq_attr_mask(4);
    pub const IBV_WQ_ATTR_RESERVED: ibv_wq_attr_mask = ibv_wq_attr_mask(8);
}
impl ::core::ops::BitOr<ibv_wq_attr_mask> for ibv_wq_attr_mask {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_wq_attr_mask(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_wq_attr_mask {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_wq_attr_mask) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_wq_attr_mask> for ibv_wq_attr_mask {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_wq_attr_mask(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_wq_attr_mask {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_wq_attr_mask) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_wq_attr_mask(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_wq_attr {
    pub attr_mask: u32,
    pub wq_state: ibv_wq_state::Type,
    pub curr_wq_state: ibv_wq_state::Type,
    pub flags: u32,
    pub flags_mask: u32,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_rwq_ind_table {
    pub context: *mut ibv_context,
    pub ind_tbl_handle: ::core::ffi::c_int,
    pub ind_tbl_num: ::core::ffi::c_int,
    pub comp_mask: u32,
}
impl ibv_ind_table_init_attr_mask {
    pub const IBV_CREATE_IND_TABLE_RESERVED: ibv_ind_table_init_attr_mask =
        ibv_ind_table_init_attr_mask(1);
}
impl ::core::ops::BitOr<ibv_ind_table_init_attr_mask> for ibv_ind_table_init_attr_mask {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_ind_table_init_attr_mask(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_ind_table_init_attr_mask {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_ind_table_init_attr_mask) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_ind_table_init_attr_mask> for ibv_ind_table_init_attr_mask {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_ind_table_init_attr_mask(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_ind_table_init_attr_mask {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_ind_table_init_attr_mask) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_ind_table_init_attr_mask(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_rwq_ind_table_init_attr {
    pub log_ind_tbl_size: u32,
    pub ind_tbl: *mut *mut ibv_wq,
    pub comp_mask: u32,
}
pub mod ibv_qp_type {
    #[allow(unused_imports)]
    use super::*;
    pub type Type = ::core::ffi::c_uint;
    pub const IBV_QPT_RC: Type = 2;
    pub const IBV_QPT_UC: Type = 3;
    pub const IBV_QPT_UD: Type = 4;
    pub const IBV_QPT_RAW_PACKET: Type = 8;
    pub const IBV_QPT_XRC_SEND: Type = 9;
    pub const IBV_QPT_XRC_RECV: Type = 10;
    pub const IBV_QPT_DRIVER: Type = 255;
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_qp_cap {
    pub max_send_wr: u32,
    pub max_recv_wr: u32,
    pub max_send_sge: u32,
    pub max_recv_sge: u32,
    pub max_inline_data: u32,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_qp_init_attr {
    pub qp_context: *mut ::core::ffi::c_void,
    pub send_cq: *mut ibv_cq,
    pub recv_cq: *mut ibv_cq,
    pub srq: *mut ibv_srq,
    pub cap: ibv_qp_cap,
    pub qp_type: ibv_qp_type::Type,
    pub sq_sig_all: ::core::ffi::c_int,
}
impl ibv_qp_init_attr_mask {
    pub const IBV_QP_INIT_ATTR_PD: ibv_qp_init_attr_mask = ibv_qp_init_attr_mask(1);
    pub const IBV_QP_INIT_ATTR_XRCD: ibv_qp_init_attr_mask = ibv_qp_init_attr_mask(2);
    pub const IBV_QP_INIT_ATTR_CREATE_FLAGS: ibv_qp_init_attr_mask = ibv_qp_init_attr_mask(4);
    pub const IBV_QP_INIT_ATTR_MAX_TSO_HEADER: ibv_qp_init_attr_mask = ibv_qp_init_attr_mask(8);
    pub const IBV_QP_INIT_ATTR_IND_TABLE: ibv_qp_init_attr_mask = ibv_qp_init_attr_mask(16);
    pub const IBV_QP_INIT_ATTR_RX_HASH: ibv_qp_init_attr_mask = ibv_qp_init_attr_mask(32);
    pub const IBV_QP_INIT_ATTR_SEND_OPS_FLAGS: ibv_qp_init_attr_mask = ibv_qp_init_attr_mask(64);
}
impl ::core::ops::BitOr<ibv_qp_init_attr_mask> for ibv_qp_init_attr_mask {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_qp_init_attr_mask(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_qp_init_attr_mask {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_qp_init_attr_mask) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_qp_init_attr_mask> for ibv_qp_init_attr_mask {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_qp_init_attr_mask(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_qp_init_attr_mask {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_qp_init_attr_mask) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_qp_init_attr_mask(pub ::core::ffi::c_uint);
impl ibv_qp_create_flags {
    pub const IBV_QP_CREATE_BLOCK_SELF_MCAST_LB: ibv_qp_create_flags = ibv_qp_create_flags(2);
    pub const IBV_QP_CREATE_SCATTER_FCS: ibv_qp_create_flags = ibv_qp_create_flags(256);
    pub const IBV_QP_CREATE_CVLAN_STRIPPING: ibv_qp_create_flags = ibv_qp_create_flags(512);
    pub const IBV_QP_CREATE_SOURCE_QPN: ibv_qp_create_flags = ibv_qp_create_flags(1024);
    pub const IBV_QP_CREATE_PCI_WRITE_END_PADDING: ibv_qp_create_flags = ibv_qp_create_flags(2048);
}
impl ::core::ops::BitOr<ibv_qp_create_flags> for ibv_qp_create_flags {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_qp_create_flags(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_qp_create_flags {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_qp_create_flags) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_qp_create_flags> for ibv_qp_create_flags {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_qp_create_flags(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_qp_create_flags {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_qp_create_flags) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_qp_create_flags(pub ::core::ffi::c_uint);
impl ibv_qp_create_send_ops_flags {
    pub const IBV_QP_EX_WITH_RDMA_WRITE: ibv_qp_create_send_ops_flags =
        ibv_qp_create_send_ops_flags(1);
    pub const IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM: ibv_qp_create_send_ops_flags =
        ibv_qp_create_send_ops_flags(2);
    pub const IBV_QP_EX_WITH_SEND: ibv_qp_create_send_ops_flags = ibv_qp_create_send_ops_flags(4);
    pub const IBV_QP_EX_WITH_SEND_WITH_IMM: ibv_qp_create_send_ops_flags =
        ibv_qp_create_send_ops_flags(8);
    pub const IBV_QP_EX_WITH_RDMA_READ: ibv_qp_create_send_ops_flags =
        ibv_qp_create_send_ops_flags(16);
    pub const IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP: ibv_qp_create_send_ops_flags =
        ibv_qp_create_send_ops_flags(32);
    pub const IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD: ibv_qp_create_send_ops_flags =
        ibv_qp_create_send_ops_flags(64);
    pub const IBV_QP_EX_WITH_LOCAL_INV: ibv_qp_create_send_ops_flags =
        ibv_qp_create_send_ops_flags(128);
    pub const IBV_QP_EX_WITH_BIND_MW: ibv_qp_create_send_ops_flags =
        ibv_qp_create_send_ops_flags(256);
    pub const IBV_QP_EX_WITH_SEND_WITH_INV: ibv_qp_create_send_ops_flags =
        ibv_qp_create_send_ops_flags(512);
    pub const IBV_QP_EX_WITH_TSO: ibv_qp_create_send_ops_flags = ibv_qp_create_send_ops_flags(1024);
    pub const IBV_QP_EX_WITH_ATOMIC_WRITE: ibv_qp_create_send_ops_flags =
        ibv_qp_create_send_ops_flags(4096);
}
impl ::core::ops::BitOr<ibv_qp_create_send_ops_flags> for ibv_qp_create_send_ops_flags {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_qp_create_send_ops_flags(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_qp_create_send_ops_flags {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_qp_create_send_ops_flags) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_qp_create_send_ops_flags> for ibv_qp_create_send_ops_flags {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_qp_create_send_ops_flags(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_qp_create_send_ops_flags {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_qp_create_send_ops_flags) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_qp_create_send_ops_flags(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_rx_hash_conf {
    pub rx_hash_function: u8,
    pub rx_hash_key_len: u8,
    pub rx_hash_key: *mut u8,
    pub rx_hash_fields_mask: u64,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_qp_init_attr_ex {
    pub qp_context: *mut ::core::ffi::c_void,
    pub send_cq: *mut ibv_cq,
    pub recv_cq: *mut ibv_cq,
    pub srq: *mut ibv_srq,
    pub cap: ibv_qp_cap,
    pub qp_type: ibv_qp_type::Type,
    pub sq_sig_all: ::core::ffi::c_int,
    pub comp_mask: u32,
    pub pd: *mut ibv_pd,
    pub xrcd: *mut ibv_xrcd,
    pub create_flags: u32,
    pub max_tso_header: u16,
    pub rwq_ind_tbl: *mut ibv_rwq_ind_table,
    pub rx_hash_conf: ibv_rx_hash_conf,
    pub source_qpn: u32,
    pub send_ops_flags: u64,
}
impl ibv_qp_open_attr_mask {
    pub const IBV_QP_OPEN_ATTR_NUM: ibv_qp_open_attr_mask = ibv_qp_open_attr_mask(1);
    pub const IBV_QP_OPEN_ATTR_XRCD: ibv_qp_open_attr_mask = ibv_qp_open_attr_mask(2);
    pub const IBV_QP_OPEN_ATTR_CONTEXT: ibv_qp_open_attr_mask = ibv_qp_open_attr_mask(4);
    pub const IBV_QP_OPEN_ATTR_TYPE: ibv_qp_open_attr_mask = ibv_qp_open_attr_mask(8);
    pub const IBV_QP_OPEN_ATTR_RESERVED: ibv_qp_open_attr_mask = ibv_qp_open_attr_mask(16);
}
impl ::core::ops::BitOr<ibv_qp_open_attr_mask> for ibv_qp_open_attr_mask {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_qp_open_attr_mask(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_qp_open_attr_mask {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_qp_open_attr_mask) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_qp_open_attr_mask> for ibv_qp_open_attr_mask {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_qp_open_attr_mask(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_qp_open_attr_mask {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_qp_open_attr_mask) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_qp_open_attr_mask(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_qp_open_attr {
    pub comp_mask: u32,
    pub qp_num: u32,
    pub xrcd: *mut ibv_xrcd,
    pub qp_context: *mut ::core::ffi::c_void,
    pub qp_type: ibv_qp_type::Type,
}
impl ibv_qp_attr_mask {
    pub const IBV_QP_STATE: ibv_qp_attr_mask = ibv_qp_attr_mask(1);
    pub const IBV_QP_CUR_STATE: ibv_qp_attr_mask = ibv_qp_attr_mask(2);
    pub const IBV_QP_EN_SQD_ASYNC_NOTIFY: ibv_qp_attr_mask = ibv_qp_attr_mask(4);
    pub const IBV_QP_ACCESS_FLAGS: ibv_qp_attr_mask = ibv_qp_attr_mask(8);
    pub const IBV_QP_PKEY_INDEX: ibv_qp_attr_mask = ibv_qp_attr_mask(16);
    pub const IBV_QP_PORT: ibv_qp_attr_mask = ibv_qp_attr_mask(32);
    pub const IBV_QP_QKEY: ibv_qp_attr_mask = ibv_qp_attr_mask(64);
    pub const IBV_QP_AV: ibv_qp_attr_mask = ibv_qp_attr_mask(128);
    pub const IBV_QP_PATH_MTU: ibv_qp_attr_mask = ibv_qp_attr_mask(256);
    pub const IBV_QP_TIMEOUT: ibv_qp_attr_mask = ibv_qp_attr_mask(512);
    pub const IBV_QP_RETRY_CNT: ibv_qp_attr_mask = ibv_qp_attr_mask(1024);
    pub const IBV_QP_RNR_RETRY: ibv_qp_attr_mask = ibv_qp_attr_mask(2048);
    pub const IBV_QP_RQ_PSN: ibv_qp_attr_mask = ibv_qp_attr_mask(4096);
    pub const IBV_QP_MAX_QP_RD_ATOMIC: ibv_qp_attr_mask = ibv_qp_attr_mask(8192);
    pub const IBV_QP_ALT_PATH: ibv_qp_attr_mask = ibv_qp_attr_mask(16384);
    pub const IBV_QP_MIN_RNR_TIMER: ibv_qp_attr_mask = ibv_qp_attr_mask(32768);
    pub const IBV_QP_SQ_PSN: ibv_qp_attr_mask = ibv_qp_attr_mask(65536);
    pub const IBV_QP_MAX_DEST_RD_ATOMIC: ibv_qp_attr_mask = ibv_qp_attr_mask(131072);
    pub const IBV_QP_PATH_MIG_STATE: ibv_qp_attr_mask = ibv_qp_attr_mask(262144);
    pub const IBV_QP_CAP: ibv_qp_attr_mask = ibv_qp_attr_mask(524288);
    pub const IBV_QP_DEST_QPN: ibv_qp_attr_mask = ibv_qp_attr_mask(1048576);
    pub const IBV_QP_RATE_LIMIT: ibv_qp_attr_mask = ibv_qp_attr_mask(33554432);
}
impl ::core::ops::BitOr<ibv_qp_attr_mask> for ibv_qp_attr_mask {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_qp_attr_mask(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_qp_attr_mask {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_qp_attr_mask) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_qp_attr_mask> for ibv_qp_attr_mask {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_qp_attr_mask(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_qp_attr_mask {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_qp_attr_mask) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_qp_attr_mask(pub ::core::ffi::c_uint);
pub mod ibv_qp_state {
    #[allow(unused_imports)]
    use super::*;
    pub type Type = ::core::ffi::c_uint;
    pub const IBV_QPS_RESET: Type = 0;
    pub const IBV_QPS_INIT: Type = 1;
    pub const IBV_QPS_RTR: Type = 2;
    pub const IBV_QPS_RTS: Type = 3;
    pub const IBV_QPS_SQD: Type = 4;
    pub const IBV_QPS_SQE: Type = 5;
    pub const IBV_QPS_ERR: Type = 6;
    pub const IBV_QPS_UNKNOWN: Type = 7;
}
pub mod ibv_mig_state {
    #[allow(unused_imports)]
    use super::*;
    pub type Type = ::core::ffi::c_uint;
    pub const IBV_MIG_MIGRATED: Type = 0;
    pub const IBV_MIG_REARM: Type = 1;
    pub const IBV_MIG_ARMED: Type = 2;
}
#[repr(C)]
pub struct ibv_qp_attr {
    pub qp_state: ibv_qp_state::Type,
    pub cur_qp_state: ibv_qp_state::Type,
    pub path_mtu: ibv_mtu::Type,
    pub path_mig_state: ibv_mig_state::Type,
    pub qkey: u32,
    pub rq_psn: u32,
    pub sq_psn: u32,
    pub dest_qp_num: u32,
    pub qp_access_flags: ::core::ffi::c_uint,
    pub cap: ibv_qp_cap,
    pub ah_attr: ibv_ah_attr,
    pub alt_ah_attr: ibv_ah_attr,
    pub pkey_index: u16,
    pub alt_pkey_index: u16,
    pub en_sqd_async_notify: u8,
    pub sq_draining: u8,
    pub max_rd_atomic: u8,
    pub max_dest_rd_atomic: u8,
    pub min_rnr_timer: u8,
    pub port_num: u8,
    pub timeout: u8,
    pub retry_cnt: u8,
    pub rnr_retry: u8,
    pub alt_port_num: u8,
    pub alt_timeout: u8,
    pub rate_limit: u32,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_qp_rate_limit_attr {
    pub rate_limit: u32,
    pub max_burst_sz: u32,
    pub typical_pkt_sz: u16,
    pub comp_mask: u32,
}
pub mod ibv_wr_opcode {
    #[allow(unused_imports)]
    use super::*;
    pub type Type = ::core::ffi::c_uint;
    pub const IBV_WR_RDMA_WRITE: Type = 0;
    pub const IBV_WR_RDMA_WRITE_WITH_IMM: Type = 1;
    pub const IBV_WR_SEND: Type = 2;
    pub const IBV_WR_SEND_WITH_IMM: Type = 3;
    pub const IBV_WR_RDMA_READ: Type = 4;
    pub const IBV_WR_ATOMIC_CMP_AND_SWP: Type = 5;
    pub const IBV_WR_ATOMIC_FETCH_AND_ADD: Type = 6;
    pub const IBV_WR_LOCAL_INV: Type = 7;
    pub const IBV_WR_BIND_MW: Type = 8;
    pub const IBV_WR_SEND_WITH_INV: Type = 9;
    pub const IBV_WR_TSO: Type = 10;
    pub const IBV_WR_DRIVER1: Type = 11;
    pub const IBV_WR_ATOMIC_WRITE: Type = 15;
}
impl ibv_send_flags {
    pub const IBV_SEND_FENCE: ibv_send_flags = ibv_send_flags(1);
    pub const IBV_SEND_SIGNALED: ibv_send_flags = ibv_send_flags(2);
    pub const IBV_SEND_SOLICITED: ibv_send_flags = ibv_send_flags(4);
    pub const IBV_SEND_INLINE: ibv_send_flags = ibv_send_flags(8);
    pub const IBV_SEND_IP_CSUM: ibv_send_flags = ibv_send_flags(16);
}
impl ::core::ops::BitOr<ibv_send_flags> for ibv_send_flags {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_send_flags(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_send_flags {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_send_flags) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_send_flags> for ibv_send_flags {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_send_flags(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_send_flags {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_send_flags) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_send_flags(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_data_buf {
    pub addr: *mut ::core::ffi::c_void,
    pub length: usize,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_sge {
    pub addr: u64,
    pub length: u32,
    pub lkey: u32,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_recv_wr {
    pub wr_id: u64,
    pub next: *mut ibv_recv_wr,
    pub sg_list: *mut ibv_sge,
    pub num_sge: ::core::ffi::c_int,
}
pub mod ibv_ops_wr_opcode {
    #[allow(unused_imports)]
    use super::*;
    pub type Type = ::core::ffi::c_uint;
    pub const IBV_WR_TAG_ADD: Type = 0;
    pub const IBV_WR_TAG_DEL: Type = 1;
    pub const IBV_WR_TAG_SYNC: Type = 2;
}
impl ibv_ops_flags {
    pub const IBV_OPS_SIGNALED: ibv_ops_flags = ibv_ops_flags(1);
    pub const IBV_OPS_TM_SYNC: ibv_ops_flags = ibv_ops_flags(2);
}
impl ::core::ops::BitOr<ibv_ops_flags> for ibv_ops_flags {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_ops_flags(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_ops_flags {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_ops_flags) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_ops_flags> for ibv_ops_flags {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_ops_flags(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_ops_flags {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_ops_flags) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_ops_flags(pub ::core::ffi::c_uint);
#[repr(C)]
pub struct ibv_mw_bind {
    pub wr_id: u64,
    pub send_flags: ::core::ffi::c_uint,
    pub bind_info: ibv_mw_bind_info,
}
#[repr(C)]
pub struct ibv_srq {
    pub context: *mut ibv_context,
    pub srq_context: *mut ::core::ffi::c_void,
    pub pd: *mut ibv_pd,
    pub handle: u32,
    pub mutex: pthread_mutex_t,
    pub cond: pthread_cond_t,
    pub events_completed: u32,
}
#[repr(C)]
pub struct ibv_wq {
    pub context: *mut ibv_context,
    pub wq_context: *mut ::core::ffi::c_void,
    pub pd: *mut ibv_pd,
    pub cq: *mut ibv_cq,
    pub wq_num: u32,
    pub handle: u32,
    pub state: ibv_wq_state::Type,
    pub wq_type: ibv_wq_type::Type,
    pub post_recv: ::core::option::Option<
        unsafe extern "C" fn(
            current: *mut ibv_wq,
            recv_wr: *mut ibv_recv_wr,
            bad_recv_wr: *mut *mut ibv_recv_wr,
        ) -> ::core::ffi::c_int,
    >,
    pub mutex: pthread_mutex_t,
    pub cond: pthread_cond_t,
    pub events_completed: u32,
    pub comp_mask: u32,
}
#[repr(C)]
pub struct ibv_qp {
    pub context: *mut ibv_context,
    pub qp_context: *mut ::core::ffi::c_void,
    pub pd: *mut ibv_pd,
    pub send_cq: *mut ibv_cq,
    pub recv_cq: *mut ibv_cq,
    pub srq: *mut ibv_srq,
    pub handle: u32,
    pub qp_num: u32,
    pub state: ibv_qp_state::Type,
    pub qp_type: ibv_qp_type::Type,
    pub mutex: pthread_mutex_t,
    pub cond: pthread_cond_t,
    pub events_completed: u32,
}
#[repr(C)]
pub struct ibv_qp_ex {
    pub qp_base: ibv_qp,
    pub comp_mask: u64,
    pub wr_id: u64,
    pub wr_flags: ::core::ffi::c_uint,
    pub wr_atomic_cmp_swp: ::core::option::Option<
        unsafe extern "C" fn(
            qp: *mut ibv_qp_ex,
            rkey: u32,
            remote_addr: u64,
            compare: u64,
            swap: u64,
        ),
    >,
    pub wr_atomic_fetch_add: ::core::option::Option<
        unsafe extern "C" fn(qp: *mut ibv_qp_ex, rkey: u32, remote_addr: u64, add: u64),
    >,
    pub wr_bind_mw: ::core::option::Option<
        unsafe extern "C" fn(
            qp: *mut ibv_qp_ex,
            mw: *mut ibv_mw,
            rkey: u32,
            bind_info: *const ibv_mw_bind_info,
        ),
    >,
    pub wr_local_inv:
        ::core::option::Option<unsafe extern "C" fn(qp: *mut ibv_qp_ex, invalidate_rkey: u32)>,
    pub wr_rdma_read: ::core::option::Option<
        unsafe extern "C" fn(qp: *mut ibv_qp_ex, rkey: u32, remote_addr: u64),
    >,
    pub wr_rdma_write: ::core::option::Option<
        unsafe extern "C" fn(qp: *mut ibv_qp_ex, rkey: u32, remote_addr: u64),
    >,
    pub wr_rdma_write_imm: ::core::option::Option<
        unsafe extern "C" fn(qp: *mut ibv_qp_ex, rkey: u32, remote_addr: u64, imm_data: __be32),
    >,
    pub wr_send: ::core::option::Option<unsafe extern "C" fn(qp: *mut ibv_qp_ex)>,
    pub wr_send_imm:
        ::core::option::Option<unsafe extern "C" fn(qp: *mut ibv_qp_ex, imm_data: __be32)>,
    pub wr_send_inv:
        ::core::option::Option<unsafe extern "C" fn(qp: *mut ibv_qp_ex, invalidate_rkey: u32)>,
    pub wr_send_tso: ::core::option::Option<
        unsafe extern "C" fn(
            qp: *mut ibv_qp_ex,
            hdr: *mut ::core::ffi::c_void,
            hdr_sz: u16,
            mss: u16,
        ),
    >,
    pub wr_set_ud_addr: ::core::option::Option<
        unsafe extern "C" fn(
            qp: *mut ibv_qp_ex,
            ah: *mut ibv_ah,
            remote_qpn: u32,
            remote_qkey: u32,
        ),
    >,
    pub wr_set_xrc_srqn:
        ::core::option::Option<unsafe extern "C" fn(qp: *mut ibv_qp_ex, remote_srqn: u32)>,
    pub wr_set_inline_data: ::core::option::Option<
        unsafe extern "C" fn(qp: *mut ibv_qp_ex, addr: *mut ::core::ffi::c_void, length: usize),
    >,
    pub wr_set_inline_data_list: ::core::option::Option<
        unsafe extern "C" fn(qp: *mut ibv_qp_ex, num_buf: usize, buf_list: *const ibv_data_buf),
    >,
    pub wr_set_sge: ::core::option::Option<
        unsafe extern "C" fn(qp: *mut ibv_qp_ex, lkey: u32, addr: u64, length: u32),
    >,
    pub wr_set_sge_list: ::core::option::Option<
        unsafe extern "C" fn(qp: *mut ibv_qp_ex, num_sge: usize, sg_list: *const ibv_sge),
    >,
    pub wr_start: ::core::option::Option<unsafe extern "C" fn(qp: *mut ibv_qp_ex)>,
    pub wr_complete:
        ::core::option::Option<unsafe extern "C" fn(qp: *mut ibv_qp_ex) -> ::core::ffi::c_int>,
    pub wr_abort: ::core::option::Option<unsafe extern "C" fn(qp: *mut ibv_qp_ex)>,
    pub wr_atomic_write: ::core::option::Option<
        unsafe extern "C" fn(
            qp: *mut ibv_qp_ex,
            rkey: u32,
            remote_addr: u64,
            atomic_wr: *const ::core::ffi::c_void,
        ),
    >,
}
unsafe extern "C" {
    pub fn ibv_qp_to_qp_ex(qp: *mut ibv_qp) -> *mut ibv_qp_ex;
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_ece {
    pub vendor_id: u32,
    pub options: u32,
    pub comp_mask: u32,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_comp_channel {
    pub context: *mut ibv_context,
    pub fd: ::core::ffi::c_int,
    pub refcnt: ::core::ffi::c_int,
}
#[repr(C)]
pub struct ibv_cq {
    pub context: *mut ibv_context,
    pub channel: *mut ibv_comp_channel,
    pub cq_context: *mut ::core::ffi::c_void,
    pub handle: u32,
    pub cqe: ::core::ffi::c_int,
    pub mutex: pthread_mutex_t,
    pub cond: pthread_cond_t,
    pub comp_events_completed: u32,
    pub async_events_completed: u32,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_poll_cq_attr {
    pub comp_mask: u32,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_wc_tm_info {
    pub tag: u64,
    pub priv_: u32,
}
#[repr(C)]
pub struct ibv_cq_ex {
    pub context: *mut ibv_context,
    pub channel: *mut ibv_comp_channel,
    pub cq_context: *mut ::core::ffi::c_void,
    pub handle: u32,
    pub cqe: ::core::ffi::c_int,
    pub mutex: pthread_mutex_t,
    pub cond: pthread_cond_t,
    pub comp_events_completed: u32,
    pub async_events_completed: u32,
    pub comp_mask: u32,
    pub status: ibv_wc_status::Type,
    pub wr_id: u64,
    pub start_poll: ::core::option::Option<
        unsafe extern "C" fn(
            current: *mut ibv_cq_ex,
            attr: *mut ibv_poll_cq_attr,
        ) -> ::core::ffi::c_int,
    >,
    pub next_poll:
        ::core::option::Option<unsafe extern "C" fn(current: *mut ibv_cq_ex) -> ::core::ffi::c_int>,
    pub end_poll: ::core::option::Option<unsafe extern "C" fn(current: *mut ibv_cq_ex)>,
    pub read_opcode: ::core::option::Option<
        unsafe extern "C" fn(current: *mut ibv_cq_ex) -> ibv_wc_opcode::Type,
    >,
    pub read_vendor_err:
        ::core::option::Option<unsafe extern "C" fn(current: *mut ibv_cq_ex) -> u32>,
    pub read_byte_len: ::core::option::Option<unsafe extern "C" fn(current: *mut ibv_cq_ex) -> u32>,
    pub read_imm_data:
        ::core::option::Option<unsafe extern "C" fn(current: *mut ibv_cq_ex) -> __be32>,
    pub read_qp_num: ::core::option::Option<unsafe extern "C" fn(current: *mut ibv_cq_ex) -> u32>,
    pub read_src_qp: ::core::option::Option<unsafe extern "C" fn(current: *mut ibv_cq_ex) -> u32>,
    pub read_wc_flags: ::core::option::Option<
        unsafe extern "C" fn(current: *mut ibv_cq_ex) -> ::core::ffi::c_uint,
    >,
    pub read_slid: ::core::option::Option<unsafe extern "C" fn(current: *mut ibv_cq_ex) -> u32>,
    pub read_sl: ::core::option::Option<unsafe extern "C" fn(current: *mut ibv_cq_ex) -> u8>,
    pub read_dlid_path_bits:
        ::core::option::Option<unsafe extern "C" fn(current: *mut ibv_cq_ex) -> u8>,
    pub read_completion_ts:
        ::core::option::Option<unsafe extern "C" fn(current: *mut ibv_cq_ex) -> u64>,
    pub read_cvlan: ::core::option::Option<unsafe extern "C" fn(current: *mut ibv_cq_ex) -> u16>,
    pub read_flow_tag: ::core::option::Option<unsafe extern "C" fn(current: *mut ibv_cq_ex) -> u32>,
    pub read_tm_info: ::core::option::Option<
        unsafe extern "C" fn(current: *mut ibv_cq_ex, tm_info: *mut ibv_wc_tm_info),
    >,
    pub read_completion_wallclock_ns:
        ::core::option::Option<unsafe extern "C" fn(current: *mut ibv_cq_ex) -> u64>,
}
impl ibv_cq_attr_mask {
    pub const IBV_CQ_ATTR_MODERATE: ibv_cq_attr_mask = ibv_cq_attr_mask(1);
    pub const IBV_CQ_ATTR_RESERVED: ibv_cq_attr_mask = ibv_cq_attr_mask(2);
}
impl ::core::ops::BitOr<ibv_cq_attr_mask> for ibv_cq_attr_mask {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_cq_attr_mask(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_cq_attr_mask {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_cq_attr_mask) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_cq_attr_mask> for ibv_cq_attr_mask {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_cq_attr_mask(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_cq_attr_mask {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_cq_attr_mask) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_cq_attr_mask(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_moderate_cq {
    pub cq_count: u16,
    pub cq_period: u16,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_modify_cq_attr {
    pub attr_mask: u32,
    pub moderate: ibv_moderate_cq,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_ah {
    pub context: *mut ibv_context,
    pub pd: *mut ibv_pd,
    pub handle: u32,
}
impl ibv_flow_flags {
    pub const IBV_FLOW_ATTR_FLAGS_DONT_TRAP: ibv_flow_flags = ibv_flow_flags(2);
    pub const IBV_FLOW_ATTR_FLAGS_EGRESS: ibv_flow_flags = ibv_flow_flags(4);
}
impl ::core::ops::BitOr<ibv_flow_flags> for ibv_flow_flags {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_flow_flags(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_flow_flags {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_flow_flags) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_flow_flags> for ibv_flow_flags {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_flow_flags(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_flow_flags {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_flow_flags) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_flow_flags(pub ::core::ffi::c_uint);
pub mod ibv_flow_attr_type {
    #[allow(unused_imports)]
    use super::*;
    pub type Type = ::core::ffi::c_uint;
    pub const IBV_FLOW_ATTR_NORMAL: Type = 0;
    pub const IBV_FLOW_ATTR_ALL_DEFAULT: Type = 1;
    pub const IBV_FLOW_ATTR_MC_DEFAULT: Type = 2;
    pub const IBV_FLOW_ATTR_SNIFFER: Type = 3;
}
pub mod ibv_flow_spec_type {
    #[allow(unused_imports)]
    use super::*;
    pub type Type = ::core::ffi::c_uint;
    pub const IBV_FLOW_SPEC_ETH: Type = 32;
    pub const IBV_FLOW_SPEC_IPV4: Type = 48;
    pub const IBV_FLOW_SPEC_IPV6: Type = 49;
    pub const IBV_FLOW_SPEC_IPV4_EXT: Type = 50;
    pub const IBV_FLOW_SPEC_ESP: Type = 52;
    pub const IBV_FLOW_SPEC_TCP: Type = 64;
    pub const IBV_FLOW_SPEC_UDP: Type = 65;
    pub const IBV_FLOW_SPEC_VXLAN_TUNNEL: Type = 80;
    pub const IBV_FLOW_SPEC_GRE: Type = 81;
    pub const IBV_FLOW_SPEC_MPLS: Type = 96;
    pub const IBV_FLOW_SPEC_INNER: Type = 256;
    pub const IBV_FLOW_SPEC_ACTION_TAG: Type = 4096;
    pub const IBV_FLOW_SPEC_ACTION_DROP: Type = 4097;
    pub const IBV_FLOW_SPEC_ACTION_HANDLE: Type = 4098;
    pub const IBV_FLOW_SPEC_ACTION_COUNT: Type = 4099;
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_flow_eth_filter {
    pub dst_mac: [u8; 6usize],
    pub src_mac: [u8; 6usize],
    pub ether_type: u16,
    pub vlan_tag: u16,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_flow_spec_eth {
    pub type_: ibv_flow_spec_type::Type,
    pub size: u16,
    pub val: ibv_flow_eth_filter,
    pub mask: ibv_flow_eth_filter,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_flow_ipv4_filter {
    pub src_ip: u32,
    pub dst_ip: u32,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_flow_spec_ipv4 {
    pub type_: ibv_flow_spec_type::Type,
    pub size: u16,
    pub val: ibv_flow_ipv4_filter,
    pub mask: ibv_flow_ipv4_filter,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_flow_ipv4_ext_filter {
    pub src_ip: u32,
    pub dst_ip: u32,
    pub proto: u8,
    pub tos: u8,
    pub ttl: u8,
    pub flags: u8,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_flow_spec_ipv4_ext {
    pub type_: ibv_flow_spec_type::Type,
    pub size: u16,
    pub val: ibv_flow_ipv4_ext_filter,
    pub mask: ibv_flow_ipv4_ext_filter,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_flow_ipv6_filter {
    pub src_ip: [u8; 16usize],
    pub dst_ip: [u8; 16usize],
    pub flow_label: u32,
    pub next_hdr: u8,
    pub traffic_class: u8,
    pub hop_limit: u8,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_flow_spec_ipv6 {
    pub type_: ibv_flow_spec_type::Type,
    pub size: u16,
    pub val: ibv_flow_ipv6_filter,
    pub mask: ibv_flow_ipv6_filter,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_flow_esp_filter {
    pub spi: u32,
    pub seq: u32,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_flow_spec_esp {
    pub type_: ibv_flow_spec_type::Type,
    pub size: u16,
    pub val: ibv_flow_esp_filter,
    pub mask: ibv_flow_esp_filter,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_flow_tcp_udp_filter {
    pub dst_port: u16,
    pub src_port: u16,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_flow_spec_tcp_udp {
    pub type_: ibv_flow_spec_type::Type,
    pub size: u16,
    pub val: ibv_flow_tcp_udp_filter,
    pub mask: ibv_flow_tcp_udp_filter,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_flow_gre_filter {
    pub c_ks_res0_ver: u16,
    pub protocol: u16,
    pub key: u32,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_flow_spec_gre {
    pub type_: ibv_flow_spec_type::Type,
    pub size: u16,
    pub val: ibv_flow_gre_filter,
    pub mask: ibv_flow_gre_filter,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_flow_mpls_filter {
    pub label: u32,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_flow_spec_mpls {
    pub type_: ibv_flow_spec_type::Type,
    pub size: u16,
    pub val: ibv_flow_mpls_filter,
    pub mask: ibv_flow_mpls_filter,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_flow_tunnel_filter {
    pub tunnel_id: u32,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_flow_spec_tunnel {
    pub type_: ibv_flow_spec_type::Type,
    pub size: u16,
    pub val: ibv_flow_tunnel_filter,
    pub mask: ibv_flow_tunnel_filter,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_flow_spec_action_tag {
    pub type_: ibv_flow_spec_type::Type,
    pub size: u16,
    pub tag_id: u32,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_flow_spec_action_drop {
    pub type_: ibv_flow_spec_type::Type,
    pub size: u16,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_flow_spec_action_handle {
    pub type_: ibv_flow_spec_type::Type,
    pub size: u16,
    pub action: *const ibv_flow_action,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_flow_spec_counter_action {
    pub type_: ibv_flow_spec_type::Type,
    pub size: u16,
    pub counters: *mut ibv_counters,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_flow_attr {
    pub comp_mask: u32,
    pub type_: ibv_flow_attr_type::Type,
    pub size: u16,
    pub priority: u16,
    pub num_of_specs: u8,
    pub port: u8,
    pub flags: u32,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_flow {
    pub comp_mask: u32,
    pub context: *mut ibv_context,
    pub handle: u32,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_flow_action {
    pub context: *mut ibv_context,
}
impl ibv_flow_action_esp_mask {
    pub const IBV_FLOW_ACTION_ESP_MASK_ESN: ibv_flow_action_esp_mask = ibv_flow_action_esp_mask(1);
}
impl ::core::ops::BitOr<ibv_flow_action_esp_mask> for ibv_flow_action_esp_mask {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_flow_action_esp_mask(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_flow_action_esp_mask {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_flow_action_esp_mask) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_flow_action_esp_mask> for ibv_flow_action_esp_mask {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_flow_action_esp_mask(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_flow_action_esp_mask {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_flow_action_esp_mask) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_flow_action_esp_mask(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_flow_action_esp_attr {
    pub esp_attr: *mut ib_uverbs_flow_action_esp,
    pub keymat_proto: ib_uverbs_flow_action_esp_keymat::Type,
    pub keymat_len: u16,
    pub keymat_ptr: *mut ::core::ffi::c_void,
    pub replay_proto: ib_uverbs_flow_action_esp_replay::Type,
    pub replay_len: u16,
    pub replay_ptr: *mut ::core::ffi::c_void,
    pub esp_encap: *mut ib_uverbs_flow_action_esp_encap,
    pub comp_mask: u32,
    pub esn: u32,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct _ibv_device_ops {
    pub _dummy1: ::core::option::Option<
        unsafe extern "C" fn(
            device: *mut ibv_device,
            cmd_fd: ::core::ffi::c_int,
        ) -> *mut ibv_context,
    >,
    pub _dummy2: ::core::option::Option<unsafe extern "C" fn(context: *mut ibv_context)>,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_device {
    pub _ops: _ibv_device_ops,
    pub node_type: ibv_node_type::Type,
    pub transport_type: ibv_transport_type::Type,
    pub name: [::core::ffi::c_char; 64usize],
    pub dev_name: [::core::ffi::c_char; 64usize],
    pub dev_path: [::core::ffi::c_char; 256usize],
    pub ibdev_path: [::core::ffi::c_char; 256usize],
}
#[repr(C)]
#[derive(Debug)]
pub struct _compat_ibv_port_attr {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_context_ops {
    pub _compat_query_device: ::core::option::Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            device_attr: *mut ibv_device_attr,
        ) -> ::core::ffi::c_int,
    >,
    pub _compat_query_port: ::core::option::Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            port_num: u8,
            port_attr: *mut _compat_ibv_port_attr,
        ) -> ::core::ffi::c_int,
    >,
    pub _compat_alloc_pd:
        ::core::option::Option<unsafe extern "C" fn() -> *mut ::core::ffi::c_void>,
    pub _compat_dealloc_pd:
        ::core::option::Option<unsafe extern "C" fn() -> *mut ::core::ffi::c_void>,
    pub _compat_reg_mr: ::core::option::Option<unsafe extern "C" fn() -> *mut ::core::ffi::c_void>,
    pub _compat_rereg_mr:
        ::core::option::Option<unsafe extern "C" fn() -> *mut ::core::ffi::c_void>,
    pub _compat_dereg_mr:
        ::core::option::Option<unsafe extern "C" fn() -> *mut ::core::ffi::c_void>,
    pub alloc_mw: ::core::option::Option<
        unsafe extern "C" fn(pd: *mut ibv_pd, type_: ibv_mw_type::Type) -> *mut ibv_mw,
    >,
    pub bind_mw: ::core::option::Option<
        unsafe extern "C" fn(
            qp: *mut ibv_qp,
            mw: *mut ibv_mw,
            mw_bind: *mut ibv_mw_bind,
        ) -> ::core::ffi::c_int,
    >,
    pub dealloc_mw:
        ::core::option::Option<unsafe extern "C" fn(mw: *mut ibv_mw) -> ::core::ffi::c_int>,
    pub _compat_create_cq:
        ::core::option::Option<unsafe extern "C" fn() -> *mut ::core::ffi::c_void>,
    pub poll_cq: ::core::option::Option<
        unsafe extern "C" fn(
            cq: *mut ibv_cq,
            num_entries: ::core::ffi::c_int,
            wc: *mut ibv_wc,
        ) -> ::core::ffi::c_int,
    >,
    pub req_notify_cq: ::core::option::Option<
        unsafe extern "C" fn(
            cq: *mut ibv_cq,
            solicited_only: ::core::ffi::c_int,
        ) -> ::core::ffi::c_int,
    >,
    pub _compat_cq_event:
        ::core::option::Option<unsafe extern "C" fn() -> *mut ::core::ffi::c_void>,
    pub _compat_resize_cq:
        ::core::option::Option<unsafe extern "C" fn() -> *mut ::core::ffi::c_void>,
    pub _compat_destroy_cq:
        ::core::option::Option<unsafe extern "C" fn() -> *mut ::core::ffi::c_void>,
    pub _compat_create_srq:
        ::core::option::Option<unsafe extern "C" fn() -> *mut ::core::ffi::c_void>,
    pub _compat_modify_srq:
        ::core::option::Option<unsafe extern "C" fn() -> *mut ::core::ffi::c_void>,
    pub _compat_query_srq:
        ::core::option::Option<unsafe extern "C" fn() -> *mut ::core::ffi::c_void>,
    pub _compat_destroy_srq:
        ::core::option::Option<unsafe extern "C" fn() -> *mut ::core::ffi::c_void>,
    pub post_srq_recv: ::core::option::Option<
        unsafe extern "C" fn(
            srq: *mut ibv_srq,
            recv_wr: *mut ibv_recv_wr,
            bad_recv_wr: *mut *mut ibv_recv_wr,
        ) -> ::core::ffi::c_int,
    >,
    pub _compat_create_qp:
        ::core::option::Option<unsafe extern "C" fn() -> *mut ::core::ffi::c_void>,
    pub _compat_query_qp:
        ::core::option::Option<unsafe extern "C" fn() -> *mut ::core::ffi::c_void>,
    pub _compat_modify_qp:
        ::core::option::Option<unsafe extern "C" fn() -> *mut ::core::ffi::c_void>,
    pub _compat_destroy_qp:
        ::core::option::Option<unsafe extern "C" fn() -> *mut ::core::ffi::c_void>,
    pub post_send: ::core::option::Option<
        unsafe extern "C" fn(
            qp: *mut ibv_qp,
            wr: *mut ibv_send_wr,
            bad_wr: *mut *mut ibv_send_wr,
        ) -> ::core::ffi::c_int,
    >,
    pub post_recv: ::core::option::Option<
        unsafe extern "C" fn(
            qp: *mut ibv_qp,
            wr: *mut ibv_recv_wr,
            bad_wr: *mut *mut ibv_recv_wr,
        ) -> ::core::ffi::c_int,
    >,
    pub _compat_create_ah:
        ::core::option::Option<unsafe extern "C" fn() -> *mut ::core::ffi::c_void>,
    pub _compat_destroy_ah:
        ::core::option::Option<unsafe extern "C" fn() -> *mut ::core::ffi::c_void>,
    pub _compat_attach_mcast:
        ::core::option::Option<unsafe extern "C" fn() -> *mut ::core::ffi::c_void>,
    pub _compat_detach_mcast:
        ::core::option::Option<unsafe extern "C" fn() -> *mut ::core::ffi::c_void>,
    pub _compat_async_event:
        ::core::option::Option<unsafe extern "C" fn() -> *mut ::core::ffi::c_void>,
}
#[repr(C)]
pub struct ibv_context {
    pub device: *mut ibv_device,
    pub ops: ibv_context_ops,
    pub cmd_fd: ::core::ffi::c_int,
    pub async_fd: ::core::ffi::c_int,
    pub num_comp_vectors: ::core::ffi::c_int,
    pub mutex: pthread_mutex_t,
    pub abi_compat: *mut ::core::ffi::c_void,
}
impl ibv_cq_init_attr_mask {
    pub const IBV_CQ_INIT_ATTR_MASK_FLAGS: ibv_cq_init_attr_mask = ibv_cq_init_attr_mask(1);
    pub const IBV_CQ_INIT_ATTR_MASK_PD: ibv_cq_init_attr_mask = ibv_cq_init_attr_mask(2);
}
impl ::core::ops::BitOr<ibv_cq_init_attr_mask> for ibv_cq_init_attr_mask {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_cq_init_attr_mask(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_cq_init_attr_mask {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_cq_init_attr_mask) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_cq_init_attr_mask> for ibv_cq_init_attr_mask {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_cq_init_attr_mask(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_cq_init_attr_mask {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_cq_init_attr_mask) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_cq_init_attr_mask(pub ::core::ffi::c_uint);
impl ibv_create_cq_attr_flags {
    pub const IBV_CREATE_CQ_ATTR_SINGLE_THREADED: ibv_create_cq_attr_flags =
        ibv_create_cq_attr_flags(1);
    pub const IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN: ibv_create_cq_attr_flags =
        ibv_create_cq_attr_flags(2);
}
impl ::core::ops::BitOr<ibv_create_cq_attr_flags> for ibv_create_cq_attr_flags {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_create_cq_attr_flags(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_create_cq_attr_flags {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_create_cq_attr_flags) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_create_cq_attr_flags> for ibv_create_cq_attr_flags {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_create_cq_attr_flags(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_create_cq_attr_flags {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_create_cq_attr_flags) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_create_cq_attr_flags(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_cq_init_attr_ex {
    pub cqe: u32,
    pub cq_context: *mut ::core::ffi::c_void,
    pub channel: *mut ibv_comp_channel,
    pub comp_vector: u32,
    pub wc_flags: u64,
    pub comp_mask: u32,
    pub flags: u32,
    pub parent_domain: *mut ibv_pd,
}
impl ibv_parent_domain_init_attr_mask {
    pub const IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS: ibv_parent_domain_init_attr_mask =
        ibv_parent_domain_init_attr_mask(1);
    pub const IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT: ibv_parent_domain_init_attr_mask =
        ibv_parent_domain_init_attr_mask(2);
}
impl ::core::ops::BitOr<ibv_parent_domain_init_attr_mask> for ibv_parent_domain_init_attr_mask {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_parent_domain_init_attr_mask(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_parent_domain_init_attr_mask {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_parent_domain_init_attr_mask) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_parent_domain_init_attr_mask> for ibv_parent_domain_init_attr_mask {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_parent_domain_init_attr_mask(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_parent_domain_init_attr_mask {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_parent_domain_init_attr_mask) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_parent_domain_init_attr_mask(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_parent_domain_init_attr {
    pub pd: *mut ibv_pd,
    pub td: *mut ibv_td,
    pub comp_mask: u32,
    pub alloc: ::core::option::Option<
        unsafe extern "C" fn(
            pd: *mut ibv_pd,
            pd_context: *mut ::core::ffi::c_void,
            size: usize,
            alignment: usize,
            resource_type: u64,
        ) -> *mut ::core::ffi::c_void,
    >,
    pub free: ::core::option::Option<
        unsafe extern "C" fn(
            pd: *mut ibv_pd,
            pd_context: *mut ::core::ffi::c_void,
            ptr: *mut ::core::ffi::c_void,
            resource_type: u64,
        ),
    >,
    pub pd_context: *mut ::core::ffi::c_void,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_counters_init_attr {
    pub comp_mask: u32,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_counters {
    pub context: *mut ibv_context,
}
pub mod ibv_counter_description {
    #[allow(unused_imports)]
    use super::*;
    pub type Type = ::core::ffi::c_uint;
    pub const IBV_COUNTER_PACKETS: Type = 0;
    pub const IBV_COUNTER_BYTES: Type = 1;
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ibv_counter_attach_attr {
    pub counter_desc: ibv_counter_description::Type,
    pub index: u32,
    pub comp_mask: u32,
}
impl ibv_read_counters_flags {
    pub const IBV_READ_COUNTERS_ATTR_PREFER_CACHED: ibv_read_counters_flags =
        ibv_read_counters_flags(1);
}
impl ::core::ops::BitOr<ibv_read_counters_flags> for ibv_read_counters_flags {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_read_counters_flags(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_read_counters_flags {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_read_counters_flags) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_read_counters_flags> for ibv_read_counters_flags {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_read_counters_flags(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_read_counters_flags {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_read_counters_flags) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_read_counters_flags(pub ::core::ffi::c_uint);
impl ibv_values_mask {
    pub const IBV_VALUES_MASK_RAW_CLOCK: ibv_values_mask = ibv_values_mask(1);
    pub const IBV_VALUES_MASK_RESERVED: ibv_values_mask = ibv_values_mask(2);
}
impl ::core::ops::BitOr<ibv_values_mask> for ibv_values_mask {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ibv_values_mask(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for ibv_values_mask {
    #[inline]
    fn bitor_assign(&mut self, rhs: ibv_values_mask) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<ibv_values_mask> for ibv_values_mask {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        ibv_values_mask(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for ibv_values_mask {
    #[inline]
    fn bitand_assign(&mut self, rhs: ibv_values_mask) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct ibv_values_mask(pub ::core::ffi::c_uint);
#[repr(C)]
pub struct ibv_values_ex {
    pub comp_mask: u32,
    pub raw_clock: timespec,
}
#[repr(C)]
pub struct verbs_context {
    pub query_port: ::core::option::Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            port_num: u8,
            port_attr: *mut ibv_port_attr,
            port_attr_len: usize,
        ) -> ::core::ffi::c_int,
    >,
    pub advise_mr: ::core::option::Option<
        unsafe extern "C" fn(
            pd: *mut ibv_pd,
            advice: ib_uverbs_advise_mr_advice::Type,
            flags: u32,
            sg_list: *mut ibv_sge,
            num_sges: u32,
        ) -> ::core::ffi::c_int,
    >,
    pub alloc_null_mr: ::core::option::Option<unsafe extern "C" fn(pd: *mut ibv_pd) -> *mut ibv_mr>,
    pub read_counters: ::core::option::Option<
        unsafe extern "C" fn(
            counters: *mut ibv_counters,
            counters_value: *mut u64,
            ncounters: u32,
            flags: u32,
        ) -> ::core::ffi::c_int,
    >,
    pub attach_counters_point_flow: ::core::option::Option<
        unsafe extern "C" fn(
            counters: *mut ibv_counters,
            attr: *mut ibv_counter_attach_attr,
            flow: *mut ibv_flow,
        ) -> ::core::ffi::c_int,
    >,
    pub create_counters: ::core::option::Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            init_attr: *mut ibv_counters_init_attr,
        ) -> *mut ibv_counters,
    >,
    pub destroy_counters: ::core::option::Option<
        unsafe extern "C" fn(counters: *mut ibv_counters) -> ::core::ffi::c_int,
    >,
    pub reg_dm_mr: ::core::option::Option<
        unsafe extern "C" fn(
            pd: *mut ibv_pd,
            dm: *mut ibv_dm,
            dm_offset: u64,
            length: usize,
            access: ::core::ffi::c_uint,
        ) -> *mut ibv_mr,
    >,
    pub alloc_dm: ::core::option::Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            attr: *mut ibv_alloc_dm_attr,
        ) -> *mut ibv_dm,
    >,
    pub free_dm:
        ::core::option::Option<unsafe extern "C" fn(dm: *mut ibv_dm) -> ::core::ffi::c_int>,
    pub modify_flow_action_esp: ::core::option::Option<
        unsafe extern "C" fn(
            action: *mut ibv_flow_action,
            attr: *mut ibv_flow_action_esp_attr,
        ) -> ::core::ffi::c_int,
    >,
    pub destroy_flow_action: ::core::option::Option<
        unsafe extern "C" fn(action: *mut ibv_flow_action) -> ::core::ffi::c_int,
    >,
    pub create_flow_action_esp: ::core::option::Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            attr: *mut ibv_flow_action_esp_attr,
        ) -> *mut ibv_flow_action,
    >,
    pub modify_qp_rate_limit: ::core::option::Option<
        unsafe extern "C" fn(
            qp: *mut ibv_qp,
            attr: *mut ibv_qp_rate_limit_attr,
        ) -> ::core::ffi::c_int,
    >,
    pub alloc_parent_domain: ::core::option::Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            attr: *mut ibv_parent_domain_init_attr,
        ) -> *mut ibv_pd,
    >,
    pub dealloc_td:
        ::core::option::Option<unsafe extern "C" fn(td: *mut ibv_td) -> ::core::ffi::c_int>,
    pub alloc_td: ::core::option::Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            init_attr: *mut ibv_td_init_attr,
        ) -> *mut ibv_td,
    >,
    pub modify_cq: ::core::option::Option<
        unsafe extern "C" fn(cq: *mut ibv_cq, attr: *mut ibv_modify_cq_attr) -> ::core::ffi::c_int,
    >,
    pub post_srq_ops: ::core::option::Option<
        unsafe extern "C" fn(
            srq: *mut ibv_srq,
            op: *mut ibv_ops_wr,
            bad_op: *mut *mut ibv_ops_wr,
        ) -> ::core::ffi::c_int,
    >,
    pub destroy_rwq_ind_table: ::core::option::Option<
        unsafe extern "C" fn(rwq_ind_table: *mut ibv_rwq_ind_table) -> ::core::ffi::c_int,
    >,
    pub create_rwq_ind_table: ::core::option::Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            init_attr: *mut ibv_rwq_ind_table_init_attr,
        ) -> *mut ibv_rwq_ind_table,
    >,
    pub destroy_wq:
        ::core::option::Option<unsafe extern "C" fn(wq: *mut ibv_wq) -> ::core::ffi::c_int>,
    pub modify_wq: ::core::option::Option<
        unsafe extern "C" fn(wq: *mut ibv_wq, wq_attr: *mut ibv_wq_attr) -> ::core::ffi::c_int,
    >,
    pub create_wq: ::core::option::Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            wq_init_attr: *mut ibv_wq_init_attr,
        ) -> *mut ibv_wq,
    >,
    pub query_rt_values: ::core::option::Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            values: *mut ibv_values_ex,
        ) -> ::core::ffi::c_int,
    >,
    pub create_cq_ex: ::core::option::Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            init_attr: *mut ibv_cq_init_attr_ex,
        ) -> *mut ibv_cq_ex,
    >,
    pub priv_: *mut verbs_ex_private,
    pub query_device_ex: ::core::option::Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            input: *const ibv_query_device_ex_input,
            attr: *mut ibv_device_attr_ex,
            attr_size: usize,
        ) -> ::core::ffi::c_int,
    >,
    pub ibv_destroy_flow:
        ::core::option::Option<unsafe extern "C" fn(flow: *mut ibv_flow) -> ::core::ffi::c_int>,
    pub ABI_placeholder2: ::core::option::Option<unsafe extern "C" fn()>,
    pub ibv_create_flow: ::core::option::Option<
        unsafe extern "C" fn(qp: *mut ibv_qp, flow_attr: *mut ibv_flow_attr) -> *mut ibv_flow,
    >,
    pub ABI_placeholder1: ::core::option::Option<unsafe extern "C" fn()>,
    pub open_qp: ::core::option::Option<
        unsafe extern "C" fn(context: *mut ibv_context, attr: *mut ibv_qp_open_attr) -> *mut ibv_qp,
    >,
    pub create_qp_ex: ::core::option::Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            qp_init_attr_ex: *mut ibv_qp_init_attr_ex,
        ) -> *mut ibv_qp,
    >,
    pub get_srq_num: ::core::option::Option<
        unsafe extern "C" fn(srq: *mut ibv_srq, srq_num: *mut u32) -> ::core::ffi::c_int,
    >,
    pub create_srq_ex: ::core::option::Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            srq_init_attr_ex: *mut ibv_srq_init_attr_ex,
        ) -> *mut ibv_srq,
    >,
    pub open_xrcd: ::core::option::Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            xrcd_init_attr: *mut ibv_xrcd_init_attr,
        ) -> *mut ibv_xrcd,
    >,
    pub close_xrcd:
        ::core::option::Option<unsafe extern "C" fn(xrcd: *mut ibv_xrcd) -> ::core::ffi::c_int>,
    pub _ABI_placeholder3: u64,
    pub sz: usize,
    pub context: ibv_context,
}
unsafe extern "C" {
    pub fn ibv_get_device_list(num_devices: *mut ::core::ffi::c_int) -> *mut *mut ibv_device;
}
unsafe extern "C" {
    pub fn ibv_free_device_list(list: *mut *mut ibv_device);
}
unsafe extern "C" {
    pub fn ibv_get_device_name(device: *mut ibv_device) -> *const ::core::ffi::c_char;
}
unsafe extern "C" {
    pub fn ibv_get_device_index(device: *mut ibv_device) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ibv_get_device_guid(device: *mut ibv_device) -> __be64;
}
unsafe extern "C" {
    pub fn ibv_open_device(device: *mut ibv_device) -> *mut ibv_context;
}
unsafe extern "C" {
    pub fn ibv_close_device(context: *mut ibv_context) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ibv_import_device(cmd_fd: ::core::ffi::c_int) -> *mut ibv_context;
}
unsafe extern "C" {
    pub fn ibv_import_pd(context: *mut ibv_context, pd_handle: u32) -> *mut ibv_pd;
}
unsafe extern "C" {
    pub fn ibv_unimport_pd(pd: *mut ibv_pd);
}
unsafe extern "C" {
    pub fn ibv_import_mr(pd: *mut ibv_pd, mr_handle: u32) -> *mut ibv_mr;
}
unsafe extern "C" {
    pub fn ibv_unimport_mr(mr: *mut ibv_mr);
}
unsafe extern "C" {
    pub fn ibv_import_dm(context: *mut ibv_context, dm_handle: u32) -> *mut ibv_dm;
}
unsafe extern "C" {
    pub fn ibv_unimport_dm(dm: *mut ibv_dm);
}
unsafe extern "C" {
    pub fn ibv_get_async_event(
        context: *mut ibv_context,
        event: *mut ibv_async_event,
    ) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ibv_ack_async_event(event: *mut ibv_async_event);
}
unsafe extern "C" {
    pub fn ibv_query_device(
        context: *mut ibv_context,
        device_attr: *mut ibv_device_attr,
    ) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ibv_query_port(
        context: *mut ibv_context,
        port_num: u8,
        port_attr: *mut _compat_ibv_port_attr,
    ) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ibv_query_gid(
        context: *mut ibv_context,
        port_num: u8,
        index: ::core::ffi::c_int,
        gid: *mut ibv_gid,
    ) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ibv_query_pkey(
        context: *mut ibv_context,
        port_num: u8,
        index: ::core::ffi::c_int,
        pkey: *mut __be16,
    ) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ibv_get_pkey_index(
        context: *mut ibv_context,
        port_num: u8,
        pkey: __be16,
    ) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ibv_alloc_pd(context: *mut ibv_context) -> *mut ibv_pd;
}
unsafe extern "C" {
    pub fn ibv_dealloc_pd(pd: *mut ibv_pd) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ibv_reg_mr_iova2(
        pd: *mut ibv_pd,
        addr: *mut ::core::ffi::c_void,
        length: usize,
        iova: u64,
        access: ::core::ffi::c_uint,
    ) -> *mut ibv_mr;
}
unsafe extern "C" {
    pub fn ibv_reg_mr(
        pd: *mut ibv_pd,
        addr: *mut ::core::ffi::c_void,
        length: usize,
        access: ::core::ffi::c_int,
    ) -> *mut ibv_mr;
}
unsafe extern "C" {
    pub fn ibv_reg_mr_iova(
        pd: *mut ibv_pd,
        addr: *mut ::core::ffi::c_void,
        length: usize,
        iova: u64,
        access: ::core::ffi::c_int,
    ) -> *mut ibv_mr;
}
unsafe extern "C" {
    pub fn ibv_reg_dmabuf_mr(
        pd: *mut ibv_pd,
        offset: u64,
        length: usize,
        iova: u64,
        fd: ::core::ffi::c_int,
        access: ::core::ffi::c_int,
    ) -> *mut ibv_mr;
}
pub mod ibv_rereg_mr_err_code {
    #[allow(unused_imports)]
    use super::*;
    pub type Type = ::core::ffi::c_int;
    pub const IBV_REREG_MR_ERR_INPUT: Type = -1;
    pub const IBV_REREG_MR_ERR_DONT_FORK_NEW: Type = -2;
    pub const IBV_REREG_MR_ERR_DO_FORK_OLD: Type = -3;
    pub const IBV_REREG_MR_ERR_CMD: Type = -4;
    pub const IBV_REREG_MR_ERR_CMD_AND_DO_FORK_NEW: Type = -5;
}
unsafe extern "C" {
    pub fn ibv_rereg_mr(
        mr: *mut ibv_mr,
        flags: ::core::ffi::c_int,
        pd: *mut ibv_pd,
        addr: *mut ::core::ffi::c_void,
        length: usize,
        access: ::core::ffi::c_int,
    ) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ibv_dereg_mr(mr: *mut ibv_mr) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ibv_create_comp_channel(context: *mut ibv_context) -> *mut ibv_comp_channel;
}
unsafe extern "C" {
    pub fn ibv_destroy_comp_channel(channel: *mut ibv_comp_channel) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ibv_create_cq(
        context: *mut ibv_context,
        cqe: ::core::ffi::c_int,
        cq_context: *mut ::core::ffi::c_void,
        channel: *mut ibv_comp_channel,
        comp_vector: ::core::ffi::c_int,
    ) -> *mut ibv_cq;
}
unsafe extern "C" {
    pub fn ibv_resize_cq(cq: *mut ibv_cq, cqe: ::core::ffi::c_int) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ibv_destroy_cq(cq: *mut ibv_cq) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ibv_get_cq_event(
        channel: *mut ibv_comp_channel,
        cq: *mut *mut ibv_cq,
        cq_context: *mut *mut ::core::ffi::c_void,
    ) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ibv_ack_cq_events(cq: *mut ibv_cq, nevents: ::core::ffi::c_uint);
}
unsafe extern "C" {
    pub fn ibv_create_srq(pd: *mut ibv_pd, srq_init_attr: *mut ibv_srq_init_attr) -> *mut ibv_srq;
}
unsafe extern "C" {
    pub fn ibv_modify_srq(
        srq: *mut ibv_srq,
        srq_attr: *mut ibv_srq_attr,
        srq_attr_mask: ::core::ffi::c_int,
    ) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ibv_query_srq(srq: *mut ibv_srq, srq_attr: *mut ibv_srq_attr) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ibv_destroy_srq(srq: *mut ibv_srq) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ibv_create_qp(pd: *mut ibv_pd, qp_init_attr: *mut ibv_qp_init_attr) -> *mut ibv_qp;
}
unsafe extern "C" {
    pub fn ibv_modify_qp(
        qp: *mut ibv_qp,
        attr: *mut ibv_qp_attr,
        attr_mask: ::core::ffi::c_int,
    ) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ibv_query_qp_data_in_order(
        qp: *mut ibv_qp,
        op: ibv_wr_opcode::Type,
        flags: u32,
    ) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ibv_query_qp(
        qp: *mut ibv_qp,
        attr: *mut ibv_qp_attr,
        attr_mask: ::core::ffi::c_int,
        init_attr: *mut ibv_qp_init_attr,
    ) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ibv_destroy_qp(qp: *mut ibv_qp) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ibv_create_ah(pd: *mut ibv_pd, attr: *mut ibv_ah_attr) -> *mut ibv_ah;
}
unsafe extern "C" {
    pub fn ibv_init_ah_from_wc(
        context: *mut ibv_context,
        port_num: u8,
        wc: *mut ibv_wc,
        grh: *mut ibv_grh,
        ah_attr: *mut ibv_ah_attr,
    ) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ibv_create_ah_from_wc(
        pd: *mut ibv_pd,
        wc: *mut ibv_wc,
        grh: *mut ibv_grh,
        port_num: u8,
    ) -> *mut ibv_ah;
}
unsafe extern "C" {
    pub fn ibv_destroy_ah(ah: *mut ibv_ah) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ibv_attach_mcast(qp: *mut ibv_qp, gid: *const ibv_gid, lid: u16) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ibv_detach_mcast(qp: *mut ibv_qp, gid: *const ibv_gid, lid: u16) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ibv_fork_init() -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ibv_is_fork_initialized() -> ibv_fork_status::Type;
}
unsafe extern "C" {
    pub fn ibv_node_type_str(node_type: ibv_node_type::Type) -> *const ::core::ffi::c_char;
}
unsafe extern "C" {
    pub fn ibv_port_state_str(port_state: ibv_port_state::Type) -> *const ::core::ffi::c_char;
}
unsafe extern "C" {
    pub fn ibv_event_type_str(event: ibv_event_type) -> *const ::core::ffi::c_char;
}
unsafe extern "C" {
    pub fn ibv_resolve_eth_l2_from_gid(
        context: *mut ibv_context,
        attr: *mut ibv_ah_attr,
        eth_mac: *mut u8,
        vid: *mut u16,
    ) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ibv_set_ece(qp: *mut ibv_qp, ece: *mut ibv_ece) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ibv_query_ece(qp: *mut ibv_qp, ece: *mut ibv_ece) -> ::core::ffi::c_int;
}
pub type socklen_t = __socklen_t;
#[repr(C)]
pub struct ibv_sa_path_rec {
    pub dgid: ibv_gid,
    pub sgid: ibv_gid,
    pub dlid: __be16,
    pub slid: __be16,
    pub raw_traffic: ::core::ffi::c_int,
    pub flow_label: __be32,
    pub hop_limit: u8,
    pub traffic_class: u8,
    pub reversible: ::core::ffi::c_int,
    pub numb_path: u8,
    pub pkey: __be16,
    pub sl: u8,
    pub mtu_selector: u8,
    pub mtu: u8,
    pub rate_selector: u8,
    pub rate: u8,
    pub packet_life_time_selector: u8,
    pub packet_life_time: u8,
    pub preference: u8,
}
#[repr(C)]
pub struct ibv_sa_mcmember_rec {
    pub mgid: ibv_gid,
    pub port_gid: ibv_gid,
    pub qkey: u32,
    pub mlid: u16,
    pub mtu_selector: u8,
    pub mtu: u8,
    pub traffic_class: u8,
    pub pkey: u16,
    pub rate_selector: u8,
    pub rate: u8,
    pub packet_life_time_selector: u8,
    pub packet_life_time: u8,
    pub sl: u8,
    pub flow_label: u32,
    pub hop_limit: u8,
    pub scope: u8,
    pub join_state: u8,
    pub proxy_join: ::core::ffi::c_int,
}
#[repr(C)]
pub struct ibv_sa_service_rec {
    pub id: u64,
    pub gid: ibv_gid,
    pub pkey: u16,
    pub lease: u32,
    pub key: [u8; 16usize],
    pub name: [u8; 64usize],
    pub data8: [u8; 16usize],
    pub data16: [u16; 8usize],
    pub data32: [u32; 4usize],
    pub data64: [u64; 2usize],
}
#[repr(C)]
pub struct ibv_path_record {
    pub service_id: __be64,
    pub dgid: ibv_gid,
    pub sgid: ibv_gid,
    pub dlid: __be16,
    pub slid: __be16,
    pub flowlabel_hoplimit: __be32,
    pub tclass: u8,
    pub reversible_numpath: u8,
    pub pkey: __be16,
    pub qosclass_sl: __be16,
    pub mtu: u8,
    pub rate: u8,
    pub packetlifetime: u8,
    pub preference: u8,
    pub reserved: [u8; 6usize],
}
#[repr(C)]
pub struct ibv_path_data {
    pub flags: u32,
    pub reserved: u32,
    pub path: ibv_path_record,
}
pub mod rdma_cm_event_type {
    #[allow(unused_imports)]
    use super::*;
    pub type Type = ::core::ffi::c_uint;
    pub const RDMA_CM_EVENT_ADDR_RESOLVED: Type = 0;
    pub const RDMA_CM_EVENT_ADDR_ERROR: Type = 1;
    pub const RDMA_CM_EVENT_ROUTE_RESOLVED: Type = 2;
    pub const RDMA_CM_EVENT_ROUTE_ERROR: Type = 3;
    pub const RDMA_CM_EVENT_CONNECT_REQUEST: Type = 4;
    pub const RDMA_CM_EVENT_CONNECT_RESPONSE: Type = 5;
    pub const RDMA_CM_EVENT_CONNECT_ERROR: Type = 6;
    pub const RDMA_CM_EVENT_UNREACHABLE: Type = 7;
    pub const RDMA_CM_EVENT_REJECTED: Type = 8;
    pub const RDMA_CM_EVENT_ESTABLISHED: Type = 9;
    pub const RDMA_CM_EVENT_DISCONNECTED: Type = 10;
    pub const RDMA_CM_EVENT_DEVICE_REMOVAL: Type = 11;
    pub const RDMA_CM_EVENT_MULTICAST_JOIN: Type = 12;
    pub const RDMA_CM_EVENT_MULTICAST_ERROR: Type = 13;
    pub const RDMA_CM_EVENT_ADDR_CHANGE: Type = 14;
    pub const RDMA_CM_EVENT_TIMEWAIT_EXIT: Type = 15;
}
pub mod rdma_port_space {
    #[allow(unused_imports)]
    use super::*;
    pub type Type = ::core::ffi::c_uint;
    pub const RDMA_PS_IPOIB: Type = 2;
    pub const RDMA_PS_TCP: Type = 262;
    pub const RDMA_PS_UDP: Type = 273;
    pub const RDMA_PS_IB: Type = 319;
}
#[repr(C)]
pub struct rdma_route {
    pub addr: rdma_addr,
    pub path_rec: *mut ibv_sa_path_rec,
    pub num_paths: ::core::ffi::c_int,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct rdma_event_channel {
    pub fd: ::core::ffi::c_int,
}
#[repr(C)]
pub struct rdma_cm_id {
    pub verbs: *mut ibv_context,
    pub channel: *mut rdma_event_channel,
    pub context: *mut ::core::ffi::c_void,
    pub qp: *mut ibv_qp,
    pub route: rdma_route,
    pub ps: rdma_port_space::Type,
    pub port_num: u8,
    pub event: *mut rdma_cm_event,
    pub send_cq_channel: *mut ibv_comp_channel,
    pub send_cq: *mut ibv_cq,
    pub recv_cq_channel: *mut ibv_comp_channel,
    pub recv_cq: *mut ibv_cq,
    pub srq: *mut ibv_srq,
    pub pd: *mut ibv_pd,
    pub qp_type: ibv_qp_type::Type,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct rdma_conn_param {
    pub private_data: *const ::core::ffi::c_void,
    pub private_data_len: u8,
    pub responder_resources: u8,
    pub initiator_depth: u8,
    pub flow_control: u8,
    pub retry_count: u8,
    pub rnr_retry_count: u8,
    pub srq: u8,
    pub qp_num: u32,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct rdma_addrinfo {
    pub ai_flags: ::core::ffi::c_int,
    pub ai_family: ::core::ffi::c_int,
    pub ai_qp_type: ::core::ffi::c_int,
    pub ai_port_space: ::core::ffi::c_int,
    pub ai_src_len: socklen_t,
    pub ai_dst_len: socklen_t,
    pub ai_src_addr: *mut sockaddr,
    pub ai_dst_addr: *mut sockaddr,
    pub ai_src_canonname: *mut ::core::ffi::c_char,
    pub ai_dst_canonname: *mut ::core::ffi::c_char,
    pub ai_route_len: usize,
    pub ai_route: *mut ::core::ffi::c_void,
    pub ai_connect_len: usize,
    pub ai_connect: *mut ::core::ffi::c_void,
    pub ai_next: *mut rdma_addrinfo,
}
impl rdma_cm_join_mc_attr_mask {
    pub const RDMA_CM_JOIN_MC_ATTR_ADDRESS: rdma_cm_join_mc_attr_mask =
        rdma_cm_join_mc_attr_mask(1);
    pub const RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS: rdma_cm_join_mc_attr_mask =
        rdma_cm_join_mc_attr_mask(2);
    pub const RDMA_CM_JOIN_MC_ATTR_RESERVED: rdma_cm_join_mc_attr_mask =
        rdma_cm_join_mc_attr_mask(4);
}
impl ::core::ops::BitOr<rdma_cm_join_mc_attr_mask> for rdma_cm_join_mc_attr_mask {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        rdma_cm_join_mc_attr_mask(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for rdma_cm_join_mc_attr_mask {
    #[inline]
    fn bitor_assign(&mut self, rhs: rdma_cm_join_mc_attr_mask) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<rdma_cm_join_mc_attr_mask> for rdma_cm_join_mc_attr_mask {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        rdma_cm_join_mc_attr_mask(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for rdma_cm_join_mc_attr_mask {
    #[inline]
    fn bitand_assign(&mut self, rhs: rdma_cm_join_mc_attr_mask) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct rdma_cm_join_mc_attr_mask(pub ::core::ffi::c_uint);
impl rdma_cm_mc_join_flags {
    pub const RDMA_MC_JOIN_FLAG_FULLMEMBER: rdma_cm_mc_join_flags = rdma_cm_mc_join_flags(0);
    pub const RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER: rdma_cm_mc_join_flags =
        rdma_cm_mc_join_flags(1);
    pub const RDMA_MC_JOIN_FLAG_RESERVED: rdma_cm_mc_join_flags = rdma_cm_mc_join_flags(2);
}
impl ::core::ops::BitOr<rdma_cm_mc_join_flags> for rdma_cm_mc_join_flags {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        rdma_cm_mc_join_flags(self.0 | other.0)
    }
}
impl ::core::ops::BitOrAssign for rdma_cm_mc_join_flags {
    #[inline]
    fn bitor_assign(&mut self, rhs: rdma_cm_mc_join_flags) {
        self.0 |= rhs.0;
    }
}
impl ::core::ops::BitAnd<rdma_cm_mc_join_flags> for rdma_cm_mc_join_flags {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        rdma_cm_mc_join_flags(self.0 & other.0)
    }
}
impl ::core::ops::BitAndAssign for rdma_cm_mc_join_flags {
    #[inline]
    fn bitand_assign(&mut self, rhs: rdma_cm_mc_join_flags) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct rdma_cm_mc_join_flags(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Copy, Clone)]
pub struct rdma_cm_join_mc_attr_ex {
    pub comp_mask: u32,
    pub join_flags: u32,
    pub addr: *mut sockaddr,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct verbs_ex_private {
    pub _address: u8,
}
