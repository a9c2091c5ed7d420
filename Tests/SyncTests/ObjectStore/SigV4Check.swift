import Foundation
import Sync

/// Checks the signature of a request as a server does: from what arrived, by the rules of
/// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html.
struct SigV4Check {
    let accessKey: String
    let secretKey: String
    let region: String

    /// - Returns: nil for a right signature; otherwise what is wrong.
    func fault(of request: ScriptedServer.Request) -> String? {
        guard let line = request.headers["authorization"], line.hasPrefix("AWS4-HMAC-SHA256 ") else {
            return "no signature"
        }
        var fields: [String: String] = [:]
        for part in line.dropFirst("AWS4-HMAC-SHA256 ".count).split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { return "a field of the signature that cannot be read" }
            fields[pair[0].trimmingCharacters(in: .whitespaces)] = String(pair[1])
        }
        guard let time = request.headers["x-amz-date"], let signed = fields["SignedHeaders"],
            let signature = fields["Signature"], let scope = fields["Credential"], time.count == 16
        else { return "a signature without its fields" }
        let day = String(time.prefix(8))
        guard scope == "\(accessKey)/\(day)/\(region)/s3/aws4_request" else { return "the scope \(scope)" }

        let names = signed.split(separator: ";").map(String.init)
        guard names == names.sorted(), names.contains("host") else { return "the signed headers \(signed)" }
        for name in request.headers.keys where name.hasPrefix("x-amz-") && !names.contains(name) {
            return "the unsigned header \(name)"
        }
        let hash = request.headers["x-amz-content-sha256"] ?? ""
        guard hash == hexadecimal(SHA256.digest(of: request.body)) else { return "the hash of another body" }
        let target = request.path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let pairs = target.count > 1 ? target[1].split(separator: "&") : []
        let query = pairs.map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
            return encoded(parts[0]) + "=" + (parts.count > 1 ? encoded(parts[1]) : "")
        }
        var canonical = [
            request.line.split(separator: " ")[0] + "\n" + target[0], query.sorted().joined(separator: "&"),
        ]
        canonical += names.map { "\($0):\(request.headers[$0] ?? "")" }
        canonical += ["", signed, hash]
        let digest = hexadecimal(SHA256.digest(of: Array(canonical.joined(separator: "\n").utf8)))
        let text = "AWS4-HMAC-SHA256\n\(time)\n\(day)/\(region)/s3/aws4_request\n\(digest)"
        var key = Array("AWS4\(secretKey)".utf8)
        for part in [day, region, "s3", "aws4_request"] { key = hmac(key, part) }
        return hexadecimal(hmac(key, text)) == signature ? nil : "a wrong signature of \(canonical)"
    }

    /// Encodes what was decoded, as servers do.
    private func encoded(_ text: String) -> String {
        let unreserved = CharacterSet(
            charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
        return text.removingPercentEncoding?.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }

    /// RFC 2104 with SHA-256.
    private func hmac(_ key: [UInt8], _ text: String) -> [UInt8] {
        let short = key.count > 64 ? SHA256.digest(of: key) : key
        let block = short + [UInt8](repeating: 0, count: 64 - short.count)
        return SHA256.digest(
            of: block.map { $0 ^ 0x5C } + SHA256.digest(of: block.map { $0 ^ 0x36 } + Array(text.utf8)))
    }
}

/// The digits of bytes, in lower case.
func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
