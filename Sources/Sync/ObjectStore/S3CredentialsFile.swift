import Foundation
import Journal

/// A profile of a credentials file as the tools of S3 share it.
///
/// `[profile]` begins a profile, `name = value` is a line of it, and `#` or `;` begins a comment, also behind a value
/// and a space.
struct S3CredentialsFile: Sendable {
    /// Bytes of the longest file.
    private static let mostBytes = 1 << 20

    let path: String
    let profile: String
    /// True for a file that systemd passes to the service. Its directory keeps it private.
    let isCredential: Bool

    /// What was read.
    struct Content: Sendable {
        let credentials: S3Credentials
        let stamp: DescriptorStatus.Stamp
    }

    /// Reads the profile.
    ///
    /// - Parameter last: What was read before; nil to read in any case.
    /// - Returns: `last` when the file has its stamp, so that nothing can have changed.
    /// - Throws: ``SyncError/Code/configuration`` when the file is missing, no regular file, readable by others or
    ///   too long, and when the profile is missing or lacks a key.
    func read(since last: Content?) throws(SyncError) -> Content {
        // O_NONBLOCK: opening a FIFO must not wait for a writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw failure(
                "cannot be read: \(String(cString: strerror(errno)))",
                hint:
                    "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name the file in AWS_SHARED_CREDENTIALS_FILE.")
        }
        defer { close(descriptor) }
        guard let status = DescriptorStatus(descriptor), status.isRegularFile else {
            throw failure("is not a regular file", hint: "It holds lines such as aws_access_key_id = …")
        }
        guard status.isPrivate || isCredential else {
            throw failure("can be read or written by other users", hint: "Make it private: `chmod 600 \(path)`")
        }
        if let last, last.stamp == status.stamp { return last }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        let most = S3CredentialsFile.mostBytes
        guard let data = try? handle.read(upToCount: most + 1) ?? Data(), data.count <= most else {
            throw failure("cannot be read, or is longer than \(most) bytes", hint: nil)
        }
        return Content(credentials: try credentials(in: String(decoding: data, as: UTF8.self)), stamp: status.stamp)
    }

    /// Finds the profile in the text of the file.
    func credentials(in text: String) throws(SyncError) -> S3Credentials {
        guard let values = S3CredentialsFile.profiles(of: text)[profile] else {
            throw failure(
                "has no profile [\(profile)]", hint: "Name another one in AWS_PROFILE, or add it to the file.")
        }
        guard let accessKey = values["aws_access_key_id"], let secretKey = values["aws_secret_access_key"] else {
            throw failure(
                "has no aws_access_key_id or no aws_secret_access_key in the profile [\(profile)]",
                hint: "Tandem reads keys only; it starts no program and takes on no role to get some.")
        }
        return try S3Credentials(
            accessKey: accessKey, secretKey: secretKey, sessionToken: values["aws_session_token"], source: path)
    }

    private static func profiles(of text: String) -> [String: [String: String]] {
        var profiles: [String: [String: String]] = [:]
        var current: String?
        for raw in text.split(whereSeparator: \.isNewline) {
            let line = raw.trimmingCharacters(in: .whitespaces)
            guard let first = line.first, first != "#", first != ";" else { continue }
            if first == "[", let end = line.firstIndex(of: "]") {
                let name = line[line.index(after: line.startIndex)..<end].trimmingCharacters(in: .whitespaces)
                current = name
                profiles[name, default: [:]].merge([:]) { old, _ in old }
            } else if let current, let equals = line.firstIndex(of: "=") {
                let name = line[..<equals].trimmingCharacters(in: .whitespaces).lowercased()
                profiles[current, default: [:]][name] = value(line[line.index(after: equals)...])
            }
        }
        return profiles
    }

    /// A value without the comment behind it.
    private static func value(_ text: Substring) -> String {
        var value = text[...]
        for index in text.indices.dropFirst() where text[index] == "#" || text[index] == ";" {
            guard text[text.index(before: index)].isWhitespace else { continue }
            value = text[..<index]
            break
        }
        return value.trimmingCharacters(in: .whitespaces)
    }

    private func failure(_ reason: String, hint: String?) -> SyncError {
        SyncError(.configuration, "The credentials file \(path) \(reason)", hint: hint)
    }
}
