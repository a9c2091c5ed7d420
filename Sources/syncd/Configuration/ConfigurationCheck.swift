/// Makes the settings of all databases of a configuration, and checks what they cannot share.
///
/// It collects every mistake, and opens neither a database nor a socket.
struct ConfigurationCheck {
    /// One database of the configuration.
    struct Database {
        /// nil for the only one.
        let name: String?
        /// Where the file has the name.
        let place: ConfigurationPlace?
        let check: SettingsCheck

        var configuration: Configuration { check.configuration }
    }

    /// In the order of the file; none when the text cannot be read.
    private(set) var databases: [Database] = []
    private(set) var mistakes: [ConfigurationMistake]
    /// The keys that name credentials, when there are none here: what they hold is not checked.
    private(set) var unchecked: [String] = []
    /// What was checked, with the flags on top; nil when the text cannot be read.
    let configuration: Configuration?

    /// - Throws: ``Failure`` when the file cannot be read.
    init(_ source: ConfigurationSource, _ credentials: Credentials) throws {
        guard let file = source.file else {
            self.init(source.flags, mistakes: [], credentials)
            return
        }
        let read = try ConfigurationFile.load(file)
        guard let configuration = read.configuration else {
            // What a text that cannot be read lacks is not worth a word.
            self.init(unreadable: read.mistakes)
            return
        }
        guard let databases = configuration.databases else {
            self.init(configuration.overridden(by: source.flags), mistakes: read.mistakes, credentials)
            return
        }
        let flags = source.flags.flagsOfAllDatabases
        var all = configuration.overridden(by: flags)
        all.databases = databases.map { database in
            var database = database
            database.configuration = database.configuration.overridden(by: flags)
            return database
        }
        let surplus = source.flags.flagsOfOneDatabase.map { ConfigurationMistake(surplus: $0) }
        self.init(all, mistakes: read.mistakes + surplus, credentials)
    }

    /// Checks a configuration that was read before; the files that it names are read again.
    ///
    /// - Parameter mistakes: Those of its text.
    init(_ configuration: Configuration, mistakes: [ConfigurationMistake] = [], _ credentials: Credentials) {
        self.configuration = configuration
        self.mistakes = mistakes
        guard let named = configuration.databases else {
            add(Database(name: nil, place: nil, check: SettingsCheck(configuration, credentials, mistakes: mistakes)))
            return
        }
        for database in named {
            let check = SettingsCheck(
                database.configuration, named: database.name, credentials, mistakes: mistakes)
            add(Database(name: database.name, place: database.place, check: check))
            if check.configuration.database == nil, check.configuration.places[.database] == nil {
                add(
                    ConfigurationMistake(
                        "\(database.name) names no database",
                        hint: "Give its file: `database: \(database.name).sqlite`",
                        key: ConfigurationKey.database.rawValue, at: database.place))
            }
        }
        for mistake in SharedUse.mistakes(databases) { add(mistake) }
    }

    private init(unreadable mistakes: [ConfigurationMistake]) {
        configuration = nil
        self.mistakes = mistakes
    }

    private mutating func add(_ database: Database) {
        databases.append(database)
        // Mistakes of the text are there already.
        for mistake in database.check.mistakes where !mistakes.contains(mistake) {
            add(
                ConfigurationMistake(
                    mistake.message, hint: mistake.hint, key: mistake.key, at: mistake.place ?? database.place))
        }
        for path in database.check.unchecked where !unchecked.contains(path) { unchecked.append(path) }
    }

    /// What stands at the top of a file is checked for each database, and said once.
    private mutating func add(_ mistake: ConfigurationMistake) {
        if !mistakes.contains(mistake) { mistakes.append(mistake) }
    }
}

extension ConfigurationMistake {
    /// A flag that is about one database, beside a file of several.
    fileprivate init(surplus key: ConfigurationKey) {
        let flag = key == .database ? "The argument DB" : "--\(key.rawValue)"
        self.init(
            "\(flag) is about one database, and the configuration names several",
            hint: "Leave it out, and write `\(key.rawValue)` below the name of the database in the file",
            key: key.rawValue, at: nil)
    }
}
