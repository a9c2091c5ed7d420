import ArgumentParser
import Journal

/// A time as typed on the command line: `2026-11-21` or `2026-11-21T08:40:19Z`.
struct TimeArgument: ExpressibleByArgument, Sendable {
    /// The greatest stamp of that time: changes at that very millisecond count.
    let stamp: Stamp

    init?(argument: String) {
        guard let seconds = ConsoleText.parseTime(argument),
            let milliseconds = Int64(exactly: (seconds * 1_000).rounded()),
            milliseconds >= 0
        else { return nil }
        stamp = Stamp(rawValue: Stamp(milliseconds: milliseconds).rawValue | 0xFFFF)
    }
}
