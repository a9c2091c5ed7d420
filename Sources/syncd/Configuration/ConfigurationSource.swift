/// Where the settings of the daemons come from: flags, and a file if there is one.
struct ConfigurationSource: Sendable {
    let flags: Configuration
    let file: String?

    /// Reads the file, and every file that it or the flags name.
    ///
    /// - Throws: ``ConfigurationMistakes``, or ``Failure`` when the file cannot be read.
    func read(_ credentials: Credentials) throws -> CheckedConfiguration {
        try CheckedConfiguration(ConfigurationCheck(self, credentials), file: file)
    }
}
