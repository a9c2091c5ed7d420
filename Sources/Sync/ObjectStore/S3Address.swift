import Foundation

/// Where a bucket of an S3 server is, and the part of it that is used.
///
/// `s3://bucket/prefix?endpoint=http://host:port&region=eu-west-1&style=path`. All but the bucket may be missing.
/// The endpoint then comes from `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL`, or is that of AWS, and the region
/// comes from `AWS_REGION` or `AWS_DEFAULT_REGION`, or is `us-east-1`.
public struct S3Address: Sendable, Hashable {
    /// How a request names the bucket.
    enum Style: String, Sendable {
        /// As the beginning of the path.
        case path
        /// As the beginning of the server's name.
        case host
    }

    let bucket: String
    /// What all keys begin with, without a slash at the end; may be empty.
    let prefix: String
    /// `https` or `http`.
    let scheme: String
    /// The server's name, with its port if that was given.
    let host: String
    let region: String
    let style: Style

    /// `s3://bucket/prefix`, for messages; holds no secret.
    public var name: String { "s3://" + bucket + (prefix.isEmpty ? "" : "/" + prefix) }

    /// True when what is stored travels unencrypted. Secret keys never travel.
    package var isPlain: Bool { scheme == "http" }

    private static let example = "It looks like s3://bucket/prefix?endpoint=https://host:port&region=eu-west-1."

    /// - Parameters:
    ///   - address: As above.
    ///   - environment: The variables of the process.
    /// - Throws: ``SyncError/Code/configuration``; the message never repeats user info and values of options.
    public init(_ address: String, environment: [String: String]) throws(SyncError) {
        guard address.hasPrefix("s3://"), !address.contains("#") else {
            throw SyncError(.configuration, "The address of the object store cannot be read", hint: S3Address.example)
        }
        let parts = address.dropFirst("s3://".count).split(
            separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let place = parts[0]
        guard !place.contains("@") else {
            throw SyncError(
                .configuration, "The address of the object store holds user info",
                hint: "Secrets in addresses get into logs; use AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a "
                    + "credentials file.")
        }
        let names = place.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        bucket = try S3Address.bucket(String(names[0]))
        prefix = try S3Address.prefix(names.count > 1 ? names[1] : "")
        let options = try S3Address.options(parts.count > 1 ? parts[1] : "")

        func variable(_ names: String...) -> String? { names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty } }
        region = try S3Address.region(
            options["region"] ?? variable("AWS_REGION", "AWS_DEFAULT_REGION") ?? "us-east-1")
        if let endpoint = options["endpoint"] ?? variable("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL") {
            (scheme, host) = try S3Address.endpoint(endpoint)
            style = try S3Address.style(options["style"]) ?? .path
        } else {
            // https://docs.aws.amazon.com/general/latest/gr/s3.html
            (scheme, host) = ("https", "s3.\(region).amazonaws.com" + (region.hasPrefix("cn-") ? ".cn" : ""))
            // The certificate of AWS is for one name in front of the host's, so not for one with dots.
            style = try S3Address.style(options["style"]) ?? (bucket.contains(".") ? .path : .host)
        }
        guard style == .path || !S3Address.isNumber(host) else {
            throw SyncError(
                .configuration, "The bucket \(bucket) cannot be put in front of a host that is a number",
                hint: "Write style=path.")
        }
    }

    // MARK: - Parts

    /// https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
    private static func bucket(_ name: String) throws(SyncError) -> String {
        let isName =
            (3...63).contains(name.utf8.count)
            && name.utf8.allSatisfy { isLetterOrDigit($0) || $0 == 0x2D || $0 == 0x2E }
        guard isName, let first = name.utf8.first, isLetterOrDigit(first), let last = name.utf8.last,
            isLetterOrDigit(last), !name.contains("..")
        else {
            throw SyncError(
                .configuration, "The address of the object store names no bucket",
                hint: "The name of a bucket has 3 to 63 lower-case letters, digits, dots and hyphens. \(example)")
        }
        return name
    }

    private static func prefix(_ text: Substring) throws(SyncError) -> String {
        let prefix = String(text.last == "/" ? text.dropLast() : text)
        // Tandem's own keys come behind it.
        guard prefix.isEmpty || ObjectKey.isValid(prefix), prefix.utf8.count <= ObjectKey.mostBytes / 2 else {
            throw SyncError(
                .configuration, "The prefix in the address of the object store cannot be used",
                hint:
                    "Use lower-case letters, digits, dots and hyphens, with single slashes between them; a dot cannot "
                    + "come first.")
        }
        return prefix
    }

    private static func options(_ query: Substring) throws(SyncError) -> [String: String] {
        var options: [String: String] = [:]
        for option in query.split(separator: "&") {
            let parts = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, ["endpoint", "region", "style"].contains(parts[0]) else {
                throw SyncError(
                    .configuration, "The address of the object store has an option that Tandem does not know",
                    hint: "It can have endpoint, region and style. The keys come from AWS_ACCESS_KEY_ID and "
                        + "AWS_SECRET_ACCESS_KEY, or from a credentials file.")
            }
            guard options[String(parts[0])] == nil, let value = parts[1].removingPercentEncoding else {
                throw SyncError(
                    .configuration, "The option \(parts[0]) of the object store's address cannot be read", hint: example
                )
            }
            options[String(parts[0])] = value
        }
        return options
    }

    private static func region(_ name: String) throws(SyncError) -> String {
        // 64 bytes are the most that libcurl takes.
        guard (1...64).contains(name.utf8.count), name.utf8.allSatisfy({ isLetterOrDigit($0) || $0 == 0x2D }) else {
            throw SyncError(
                .configuration, "The region of the object store cannot be used",
                hint: "It has lower-case letters, digits and hyphens, such as eu-west-1.")
        }
        return name
    }

    private static func style(_ name: String?) throws(SyncError) -> Style? {
        guard let name else { return nil }
        guard let style = Style(rawValue: name) else {
            throw SyncError(
                .configuration, "The style of the object store is neither path nor host",
                hint: "With style=path the bucket is in the path, and with style=host it is in the server's name.")
        }
        return style
    }

    private static func endpoint(_ url: String) throws(SyncError) -> (scheme: String, host: String) {
        let hint = "It looks like https://host:port, without user info and path."
        for scheme in ["https", "http"] where url.lowercased().hasPrefix(scheme + "://") {
            var host = url.dropFirst(scheme.count + "://".count)
            if host.last == "/" { host = host.dropLast() }
            guard isHost(host) else {
                throw SyncError(.configuration, "The endpoint of the object store cannot be used", hint: hint)
            }
            return (scheme, host.lowercased())
        }
        throw SyncError(
            .configuration, "The endpoint of the object store begins with neither https:// nor http://", hint: hint)
    }

    // MARK: - Characters

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte)
    }

    /// True for a name or an address, with or without a port.
    private static func isHost(_ text: Substring) -> Bool {
        let name: Substring
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else { return false }
            name = text[text.index(after: text.startIndex)..<end]
            guard !name.isEmpty, name.utf8.allSatisfy({ isHexadecimal($0) || $0 == 0x3A || $0 == 0x2E }) else {
                return false
            }
            return isPort(text[text.index(after: end)...])
        }
        name = text.prefix { $0 != ":" }
        let isName = name.lowercased().utf8.allSatisfy { isLetterOrDigit($0) || $0 == 0x2D || $0 == 0x2E || $0 == 0x5F }
        return !name.isEmpty && name.utf8.count <= 190 && isName && isPort(text[name.endIndex...])
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20)
    }

    /// True for nothing, and for a colon and a number.
    private static func isPort(_ text: Substring) -> Bool {
        guard !text.isEmpty else { return true }
        let digits = text.dropFirst()
        return text.first == ":" && digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
            && UInt16(digits).map { $0 > 0 } == true
    }

    /// True for an address of IPv4 or IPv6.
    private static func isNumber(_ host: String) -> Bool {
        host.hasPrefix("[") || host.prefix { $0 != ":" }.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E }
    }
}
