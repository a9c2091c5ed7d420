import Foundation
import Testing

/// An authority that issues certificates to clients, made by the command `openssl`.
struct CertificateAuthority {
    /// Files in PEM.
    struct Issued: Sendable {
        let certificate: String
        let key: String
    }

    private let workspace: Workspace
    private let name: String

    /// The PEM file with the authority's certificate.
    var certificate: String { workspace.path("\(name).pem") }
    private var key: String { workspace.path("\(name).key") }

    private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]

    init(_ name: String, in workspace: Workspace) async throws {
        self.workspace = workspace
        self.name = name
        try await CertificateAuthority.openssl(
            ["req", "-x509"] + CertificateAuthority.newKey + [
                "-keyout", key, "-out", certificate, "-subj", "/CN=\(name)", "-days", "30",
            ])
    }

    /// - Parameters:
    ///   - file: The name of the files, without an ending.
    ///   - common: The common name.
    ///   - names: The alternative DNS names.
    ///   - days: How long it is valid from now; negative for an expired one.
    ///   - usage: The extended key usage; nil for none.
    func issue(
        _ file: String, common: String = "client", names: [String] = [], days: Int = 10, usage: String? = nil
    ) async throws -> Issued {
        let issued = Issued(certificate: workspace.path("\(file).pem"), key: workspace.path("\(file).key"))
        let request = workspace.path("\(file).csr")
        var extensions: [String] = []
        if !names.isEmpty {
            let list = names.map { "DNS:\($0)" }.joined(separator: ",")
            extensions += ["-addext", "subjectAltName=\(list)"]
        }
        if let usage { extensions += ["-addext", "extendedKeyUsage=\(usage)"] }
        try await CertificateAuthority.openssl(
            ["req", "-new"] + CertificateAuthority.newKey + [
                "-keyout", issued.key, "-out", request, "-subj", "/CN=\(common)",
            ] + extensions)
        try await CertificateAuthority.openssl([
            "x509", "-req", "-in", request, "-CA", certificate, "-CAkey", key, "-set_serial",
            "\(Int.random(in: 1..<1 << 60))", "-days", "\(days)", "-copy_extensions", "copyall", "-out",
            issued.certificate,
        ])
        return issued
    }

    /// The fingerprint as `openssl x509 -fingerprint -sha256` prints it.
    static func fingerprint(_ certificate: String) async throws -> String {
        let outcome = try await openssl(["x509", "-in", certificate, "-noout", "-fingerprint", "-sha256"])
        return try #require(outcome.output.split(separator: "=").last).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @discardableResult
    private static func openssl(_ arguments: [String]) async throws -> Outcome {
        let outcome = try await Tool.run(["/usr/bin/env", "openssl"] + arguments)
        try #require(outcome.status == 0, "\(outcome)")
        return outcome
    }
}
