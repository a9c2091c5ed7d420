/// A configuration without mistakes, and the settings that it makes.
struct CheckedConfiguration: Sendable {
    /// What was read from the file and the flags. It can be checked again when the files that it names change.
    let configuration: Configuration
    /// Those of each database, in the order of the file; at least one.
    let databases: [DaemonSettings]

    /// - Parameter file: The file of the configuration, for messages; nil when there are flags only.
    /// - Throws: ``ConfigurationMistakes``; ``Failure`` when a database or credentials are missing.
    init(_ check: ConfigurationCheck, file: String?) throws {
        if let mistakes = ConfigurationMistakes(check.mistakes, in: file) { throw mistakes }
        guard let configuration = check.configuration,
            check.databases.allSatisfy({ $0.configuration.database != nil })
        else {
            throw Failure(
                "The configuration names no database",
                hint: "Name the file as the argument of `syncd run`, or as `database` in the configuration")
        }
        let settings = check.databases.compactMap(\.check.settings)
        guard settings.count == check.databases.count else {
            let names = check.unchecked.joined(separator: ", ")
            throw Failure(
                "The configuration names credentials, and this program was started without any: \(names)",
                hint: "Credentials come from LoadCredential= of systemd; elsewhere, give paths of files")
        }
        self.configuration = configuration
        databases = settings
    }
}
