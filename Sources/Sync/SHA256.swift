import COpenSSL

/// libcurl loads libcrypto in any case. A library of Swift packages would add a second copy of BoringSSL,
/// which takes minutes to compile.
package struct SHA256: ~Copyable {
    package static let byteCount = 32

    private let context: OpaquePointer

    package init() {
        guard let context = EVP_MD_CTX_new() else { preconditionFailure("libcrypto has no memory for a digest") }
        self.context = context
        begin()
    }

    deinit { EVP_MD_CTX_free(context) }

    package mutating func update(_ bytes: [UInt8]) {
        let status = EVP_DigestUpdate(context, bytes, bytes.count)
        precondition(status == 1, "libcrypto refuses bytes for SHA-256")
    }

    /// Returns the digest of all bytes since the last call, and begins a new one.
    package mutating func finish() -> [UInt8] {
        let digest = [UInt8](unsafeUninitializedCapacity: SHA256.byteCount) { buffer, count in
            let status = EVP_DigestFinal_ex(context, buffer.baseAddress, nil)
            precondition(status == 1, "libcrypto does not finish SHA-256")
            count = SHA256.byteCount
        }
        begin()
        return digest
    }

    package static func digest(of bytes: [UInt8]) -> [UInt8] {
        var hash = SHA256()
        hash.update(bytes)
        return hash.finish()
    }

    /// Compares two digests in a time that does not depend on where they differ.
    package static func areEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        a.count == b.count && CRYPTO_memcmp(a, b, a.count) == 0
    }

    private func begin() {
        let status = EVP_DigestInit_ex(context, EVP_sha256(), nil)
        precondition(status == 1, "libcrypto has no SHA-256")
    }
}
