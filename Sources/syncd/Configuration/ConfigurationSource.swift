/// Where the settings of a daemon come from: its flags, and its file if there is one.
struct ConfigurationSource: Sendable {
    let flags: Configuration
    let file: String?

    /// Reads the file, and every file that it or the flags name.
    ///
    /// - Throws: ``ConfigurationMistakes``, or ``Failure`` when the file cannot be read.
    func settings(_ credentials: Credentials) throws -> DaemonSettings {
        let check = try SettingsCheck(self, credentials)
        if let mistakes = ConfigurationMistakes(check.mistakes, in: file) { throw mistakes }
        guard check.configuration.database != nil else {
            throw Failure(
                "The configuration names no database",
                hint: "Name the file as the argument of `syncd run`, or as `database` in the configuration")
        }
        guard let settings = check.settings else {
            let names = check.unchecked.joined(separator: ", ")
            throw Failure(
                "The configuration names credentials, and this program was started without any: \(names)",
                hint: "Credentials come from LoadCredential= of systemd; elsewhere, give paths of files")
        }
        return settings
    }
}
