/// The files that systemd passes to a service by `LoadCredential=`, in a directory that only the service can
/// read (https://systemd.io/CREDENTIALS).
struct Credentials: Sendable {
    /// A path of the configuration that begins with this names a file of that directory.
    static let prefix = "$CREDENTIALS_DIRECTORY/"

    /// nil when the program is not a service with credentials.
    let directory: String?

    init(environment: [String: String]) { directory = environment["CREDENTIALS_DIRECTORY"] }

    /// True for a path that needs the directory, which is not there.
    func lacks(_ path: String) -> Bool { directory == nil && path.hasPrefix(Credentials.prefix) }

    /// True for a file in the directory. systemd gives it to the user of the service by an access list, which
    /// shows as permissions of the group.
    func contains(_ path: String) -> Bool { directory.map { path.hasPrefix($0 + "/") } ?? false }

    /// Returns the path of the file that `path` names.
    ///
    /// - Throws: ``Failure`` when there is no such directory.
    func resolved(_ path: String) throws -> String {
        guard path.hasPrefix(Credentials.prefix) else { return path }
        guard let directory else {
            throw Failure(
                "\(path) is a credential, and this program was started without any",
                hint: "Credentials come from LoadCredential= of systemd; elsewhere, give the path of a file")
        }
        return directory + "/" + path.dropFirst(Credentials.prefix.count)
    }
}
