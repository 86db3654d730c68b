//! The vendor's products of matrices, to compare the own ones with.

use super::matmul::product_shape;
use super::tensor::apart;
use super::{Buffer, Device, DeviceError, DeviceTensor};
use crate::dtype::DType;
use crate::error::OpError;
use cudarc::cublas::result::{self, CublasError};
use cudarc::cublas::sys::{self, cublasComputeType_t, cublasGemmAlgo_t, cublasOperation_t, cudaDataType_t};

/// Bytes that the library works in: what it recommends for this generation. It is given, so that none are allocated
/// during a capture.
const WORKSPACE: usize = 32 << 20;

/// The library, opened on the stream of a device.
///
/// It chooses how it sums by shape and version: its results are near those of [`Device::matmul`], not the same bits.
pub struct Blas {
    handle: sys::cublasHandle_t,
    device: Device,
    workspace: Buffer,
}

impl Device {
    /// Opens cuBLAS.
    ///
    /// # Errors
    /// [`DeviceError::NoLibrary`] if the loader does not find it; as [`Device::buffer`]; what the library answers.
    pub fn blas(&self) -> Result<Blas, DeviceError> {
        self.inner.not_while_capturing("open cuBLAS")?;
        // SAFETY: loading a library runs its initialisers; those of cuBLAS have no requirements.
        if !unsafe { sys::is_culib_present() } {
            return Err(DeviceError::NoLibrary { library: "cuBLAS" });
        }
        let workspace = self.buffer(WORKSPACE)?;
        let handle = result::create_handle().map_err(refused("open cuBLAS"))?;
        // From here on it is closed when anything fails.
        let blas = Blas {
            handle,
            device: self.clone(),
            workspace,
        };
        // SAFETY: the handle is open, and the stream lives as long as the device, which is kept with it.
        unsafe { result::set_stream(handle, self.inner.stream.cu_stream().cast()) }
            .map_err(refused("give cuBLAS a stream"))?;
        // After the stream, which would take the workspace away again.
        // SAFETY: the memory has these bytes and is kept as long as the handle.
        unsafe { sys::cublasSetWorkspace_v2(handle, blas.workspace.address() as *mut _, WORKSPACE) }
            .result()
            .map_err(refused("give cuBLAS a workspace"))?;
        Ok(blas)
    }
}

impl Blas {
    /// Writes `a` (`[m, k]`) times `b` (`[k, n]`), all of one type; sums in `f32`. `k = 0` gives zeros. May be
    /// captured after the same shape was done once.
    ///
    /// # Errors
    /// [`OpError::Shape`]; [`OpError::Range`] from 2^31 on along any axis; [`DeviceError::Type`] for mixed types;
    /// [`DeviceError::Aliased`]; what the library answers.
    pub fn matmul(&self, a: &DeviceTensor, b: &DeviceTensor, out: &DeviceTensor) -> Result<(), DeviceError> {
        const OP: &str = "cublas matmul";
        let dtype = a.dtype();
        b.is_of(OP, "the second matrix", dtype)?;
        out.is_of(OP, "output", dtype)?;
        let (m, k, n) = product_shape(OP, a, b, out)?;
        apart(OP, out.buffer(), &[a.buffer(), b.buffer()])?;
        if m == 0 || n == 0 {
            return Ok(());
        }
        if k == 0 {
            return out.buffer().fill(0);
        }
        let [m, n, k] = [m, n, k].map(|length| {
            i32::try_from(length).map_err(|_| OpError::Range {
                op: OP,
                what: "a length",
                found: length,
                limit: super::INDEX_LIMIT,
            })
        });
        let (m, n, k) = (m?, n?, k?);
        let kind = match dtype {
            DType::F32 => cudaDataType_t::CUDA_R_32F,
            DType::F16 => cudaDataType_t::CUDA_R_16F,
            DType::Bf16 => cudaDataType_t::CUDA_R_16BF,
        };
        let inner = &self.device.inner;
        for buffer in [a.buffer(), b.buffer(), out.buffer(), &self.workspace] {
            inner.lease(buffer)?;
        }
        let (one, zero) = (1.0_f32, 0.0_f32);
        let plain = cublasOperation_t::CUBLAS_OP_N;
        // The library counts down columns: seen that way the rows here are the transposed matrices, and the transposed
        // product is that of the transposed factors in the other order.
        // SAFETY: the shapes are those of the buffers, whose distance between rows is their width; both factors are
        // read before the call returns.
        unsafe {
            result::gemm_ex(
                self.handle,
                plain,
                plain,
                n,
                m,
                k,
                std::ptr::from_ref(&one).cast(),
                b.buffer().address() as *const _,
                kind,
                n,
                a.buffer().address() as *const _,
                kind,
                k,
                std::ptr::from_ref(&zero).cast(),
                out.buffer().address() as *mut _,
                kind,
                n,
                cublasComputeType_t::CUBLAS_COMPUTE_32F,
                cublasGemmAlgo_t::CUBLAS_GEMM_DEFAULT,
            )
        }
        .map_err(refused(OP))
    }
}

impl Drop for Blas {
    fn drop(&mut self) {
        // SAFETY: it was opened and is closed once. What the library answers changes nothing for anyone.
        let _ = unsafe { result::destroy_handle(self.handle) };
    }
}

fn refused(call: &'static str) -> impl Fn(CublasError) -> DeviceError {
    move |error| DeviceError::Driver {
        call,
        code: format!("{:?}", error.0),
    }
}
