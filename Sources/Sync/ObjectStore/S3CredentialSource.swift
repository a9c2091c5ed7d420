import Synchronization

/// Finds the keys for an S3 server: in the environment, or in the credentials file that the tools of S3 share.
///
/// The variables are `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`. Without them, the file is
/// that of `AWS_SHARED_CREDENTIALS_FILE` or `~/.aws/credentials`, and the profile that of `AWS_PROFILE` or `default`.
/// The file is read again when it changes, so keys are exchanged without a restart.
package final class S3CredentialSource: Sendable {
    private enum Place {
        case environment(S3Credentials)
        case file(S3CredentialsFile)
    }

    private let place: Place
    private let last = Mutex<S3CredentialsFile.Content?>(nil)

    /// Chooses the place. A file is not read yet.
    ///
    /// - Parameter environment: The variables of the process.
    /// - Throws: ``SyncError/Code/configuration`` when the variables hold half of the keys, or name no place at all.
    package init(environment: [String: String]) throws(SyncError) {
        func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        let accessKey = variable("AWS_ACCESS_KEY_ID")
        let secretKey = variable("AWS_SECRET_ACCESS_KEY")
        if let accessKey, let secretKey {
            place = .environment(
                try S3Credentials(
                    accessKey: accessKey, secretKey: secretKey, sessionToken: variable("AWS_SESSION_TOKEN"),
                    source: "the environment"))
            return
        }
        guard accessKey == nil, secretKey == nil else {
            throw SyncError(
                .configuration, "One of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set without the other",
                hint: "Set both, or none to use a credentials file.")
        }
        let home = variable("HOME")
        var path = variable("AWS_SHARED_CREDENTIALS_FILE") ?? "~/.aws/credentials"
        if path.hasPrefix("~/") {
            guard let home else {
                throw SyncError(
                    .configuration, "There are no keys for the object store",
                    hint: "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a file in "
                        + "AWS_SHARED_CREDENTIALS_FILE.")
            }
            path = home + path.dropFirst()
        }
        let isCredential = variable("CREDENTIALS_DIRECTORY").map { path.hasPrefix($0 + "/") } ?? false
        place = .file(
            S3CredentialsFile(path: path, profile: variable("AWS_PROFILE") ?? "default", isCredential: isCredential))
    }

    /// Returns the keys as they are now.
    ///
    /// - Throws: ``SyncError/Code/configuration`` when the file cannot be used.
    package func current() throws(SyncError) -> S3Credentials {
        switch place {
        case .environment(let credentials): return credentials
        case .file(let file):
            return try last.withLock { last throws(SyncError) in
                let content = try file.read(since: last)
                last = content
                return content.credentials
            }
        }
    }

    /// Reads the file again, because the server says that `refused` have expired.
    ///
    /// - Returns: nil when there are no other keys.
    /// - Throws: As ``current()``.
    package func renewed(after refused: S3Credentials) throws(SyncError) -> S3Credentials? {
        // A file can change without another stamp, within the granularity of its times.
        last.withLock { $0 = nil }
        let credentials = try current()
        return credentials == refused ? nil : credentials
    }
}
