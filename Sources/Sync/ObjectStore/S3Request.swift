/// A request to an S3 server in the form that libcurl signs correctly.
///
/// libcurl 7.88 signs the path, the query and the header lines as they are given. A server computes the signature
/// over a form of its own, so the given form must be that one. The rules:
///
/// 1. The query is sorted by name, and percent-encoded.
/// 2. Keys have characters only that nobody encodes.
/// 3. The SHA-256 of the body is always sent.
/// 4. No header line is empty: it would be signed and not sent. An empty `Expect:` is one, so libcurl decides
///    alone whether it asks before it sends a body.
/// 5. No header's name begins with the name of another one: libcurl sorts whole lines, and `-` comes before `:`.
/// 6. `Host` is left to libcurl, and the version of HTTP is 1.1.
struct S3Request: Sendable {
    enum Method: String, Sendable {
        case get = "GET"
        case put = "PUT"
        case delete = "DELETE"
    }

    let method: Method
    /// The key in the bucket; nil for the bucket itself.
    var key: String?
    /// Names and values as they are meant.
    var query: [String: String] = [:]
    /// Names in lower case, and values that are not empty.
    var headers: [String: String] = [:]
    /// Sent with a `PUT` only.
    var body: [UInt8] = []

    /// The whole URL.
    func url(_ address: S3Address) -> String {
        var path = key.map { "/" + $0 } ?? ""
        var host = address.host
        switch address.style {
        case .path: path = "/" + address.bucket + path
        case .host: host = address.bucket + "." + host
        }
        if path.isEmpty { path = "/" }
        let query = query.map { S3Request.encoded($0.key) + "=" + S3Request.encoded($0.value) }.sorted().joined(
            separator: "&")
        return address.scheme + "://" + host + path + (query.isEmpty ? "" : "?" + query)
    }

    /// The header lines besides those that libcurl adds.
    func lines(_ credentials: S3Credentials) -> [String] {
        var headers = headers
        headers["x-amz-content-sha256"] = S3Request.hexadecimal(SHA256.digest(of: body))
        headers["x-amz-security-token"] = credentials.sessionToken
        if method == .put { headers["content-type"] = "application/octet-stream" }
        return headers.map { "\($0.key): \($0.value)" }.sorted()
    }

    /// Percent-encodes all bytes but the unreserved ones (RFC 3986, section 2.3).
    private static func encoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default: encoded += "%" + hexadecimal([byte]).uppercased()
            }
        }
        return encoded
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
