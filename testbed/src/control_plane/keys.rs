//! Keys and certificates of one cluster: its authority, the API server's certificate, and one client certificate for
//! each identity.

use std::path::{Path, PathBuf};

use fs_err as fs;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
};

/// The authority of a cluster and the folder that its files are in.
#[derive(Debug)]
pub(super) struct Keys {
    folder: PathBuf,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate with its key, as files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) certificate: PathBuf,
    pub(super) key: PathBuf,
}

/// Why a key could not be made.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    /// A certificate could not be made.
    #[error("could not make a certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    /// A file could not be written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl Keys {
    /// Makes an authority and writes `ca.crt`, and the key `sa.key` that signs tokens of service accounts.
    pub(super) fn new(folder: &Path) -> Result<Self, KeysError> {
        fs::create_dir_all(folder)?;
        let mut params = named("rehome-testbed", None);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate()?;
        fs::write(folder.join("ca.crt"), params.self_signed(&key)?.pem())?;
        let service_accounts = KeyPair::generate()?;
        fs::write(folder.join("sa.key"), service_accounts.serialize_pem())?;
        fs::write(folder.join("sa.pub"), service_accounts.public_key_pem())?;
        Ok(Self { folder: folder.to_owned(), issuer: Issuer::new(params, key) })
    }

    /// The authority's certificate.
    pub(super) fn authority(&self) -> PathBuf {
        self.folder.join("ca.crt")
    }

    /// The key that signs tokens of service accounts.
    pub(super) fn service_accounts(&self) -> PathBuf {
        self.folder.join("sa.key")
    }

    /// The public half of it.
    pub(super) fn service_accounts_public(&self) -> PathBuf {
        self.folder.join("sa.pub")
    }

    /// The API server's certificate: for loopback, and for the first address of the service network, which is that of
    /// the Service `kubernetes`.
    pub(super) fn server(&self) -> Result<Pair, KeysError> {
        let names = ["127.0.0.1", "10.96.0.1", "localhost", "kubernetes.default.svc"].map(str::to_owned);
        let mut params = CertificateParams::new(names)?;
        params.distinguished_name.push(DnType::CommonName, "kube-apiserver");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.sign("server", &params)
    }

    /// A client certificate: the user's name is the common name, its group the organisation.
    pub(super) fn client(&self, user: &str, group: Option<&str>) -> Result<Pair, KeysError> {
        let mut params = named(user, group);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(&user.replace(':', "-"), &params)
    }

    fn sign(&self, file: &str, params: &CertificateParams) -> Result<Pair, KeysError> {
        let key = KeyPair::generate()?;
        let pair =
            Pair { certificate: self.folder.join(format!("{file}.crt")), key: self.folder.join(format!("{file}.key")) };
        fs::write(&pair.certificate, params.signed_by(&key, &self.issuer)?.pem())?;
        fs::write(&pair.key, key.serialize_pem())?;
        Ok(pair)
    }
}

fn named(name: &str, group: Option<&str>) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    if let Some(group) = group {
        params.distinguished_name.push(DnType::OrganizationName, group);
    }
    params
}
