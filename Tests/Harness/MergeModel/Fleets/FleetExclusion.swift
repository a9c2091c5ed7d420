import TestSupport

/// A machine that excludes ``FleetTable/draft`` from replication at times (`init --exclude`), and takes it in
/// again (`init --table`).
struct FleetExclusion {
    let machine: Int
    /// True while the table is excluded.
    var isOn: Bool
    /// The keys of rows that were inserted since it is excluded: no other machine knows them.
    var own: Set<Int> = []
}

extension Fleet {
    /// The machine excludes the table or takes it in, or a user writes it there while it is excluded.
    mutating func stepOfExclusion() throws {
        guard let exclusion else { return }
        guard exclusion.isOn, random.chance(75) else { return try switchExclusion() }
        switch random.below(4) {
        case 0: try insertExcluded(exclusion)
        case 1: try deleteExcluded(exclusion)
        default: try editExcluded(exclusion)
        }
    }

    mutating func switchExclusion() throws {
        guard let exclusion else { return }
        tell("\(exclusion.machine) \(exclusion.isOn ? "takes in" : "excludes") draft")
        if exclusion.isOn {
            try machines[exclusion.machine].include(.draft)
        } else {
            try machines[exclusion.machine].exclude(.draft)
        }
        self.exclusion = FleetExclusion(machine: exclusion.machine, isOn: !exclusion.isOn)
    }

    private mutating func insertExcluded(_ exclusion: FleetExclusion) throws {
        try insert(into: FleetTable.draft.rawValue, FleetTable.draft.columns, on: exclusion.machine)
        self.exclusion?.own.insert(nextID)
    }

    /// A row that others know is a copy that may be old: what is written to it stays here, until theirs replaces it.
    private mutating func editExcluded(_ exclusion: FleetExclusion) throws {
        let table = FleetTable.draft.rawValue
        guard let id = try pickRow(of: table, on: exclusion.machine) else { return }
        let value = newValue()
        if exclusion.own.contains(id) {
            let shown = try machines[exclusion.machine].rows("SELECT body FROM \(table) WHERE id = \(id)")
            record.note(value, replacing: shown.first?.first?.plainText, on: exclusion.machine)
            record.write(.init(value: value, table: table, id: id, isInsert: false, rotation: .unknown))
        } else {
            record.writeStale(value)
        }
        try write("UPDATE \(table) SET body = '\(value)' WHERE id = \(id)", on: exclusion.machine)
    }

    private mutating func deleteExcluded(_ exclusion: FleetExclusion) throws {
        let table = FleetTable.draft.rawValue
        guard let id = try pickRow(of: table, on: exclusion.machine) else { return }
        if exclusion.own.contains(id) {
            let shown = try machines[exclusion.machine].rows("SELECT body FROM \(table) WHERE id = \(id)").joined()
            record.delete(
                .init(table: table, id: id, column: ""), showing: shown.compactMap(\.plainText),
                on: exclusion.machine)
        }
        try write("DELETE FROM \(table) WHERE id = \(id)", on: exclusion.machine)
    }
}
