import GRDB
import Journal
import Sync

// The hints for errors that are thrown without one: no error is printed without a hint.

extension JournalError.Code {
    private var general: String {
        "Check the disk, the permissions of the file, and the file itself with PRAGMA integrity_check."
    }

    var advice: String {
        switch self {
        case .notFound: "Check the path and the permissions of its directories."
        case .notAReplica: "Run `syncd init` on it first."
        case .unsupportedFormat: "Upgrade syncd on this machine."
        case .unsupportedTable: "Change the table, or leave it out."
        case .unknownTable, .unknownColumn: "Check the spelling; `.schema` in the sqlite3 shell shows what is there."
        case .readOnly: SQLiteFailure(.SQLITE_READONLY).hint ?? general
        case .busy: SQLiteFailure(.SQLITE_BUSY).hint ?? general
        case .corrupt: SQLiteFailure(.SQLITE_CORRUPT).hint ?? general
        case .notADatabase: SQLiteFailure(.SQLITE_NOTADB).hint ?? general
        case .displaced: "Start again, with the file that is there now."
        case .clusterMismatch: "Replicas exchange changes only within one cluster; check which file this is."
        case .unknownConflict: "`syncd conflicts` lists what there is."
        case .unknownHeldRow: "`syncd held` lists what there is."
        case .unknownOrigin: "`syncd clock` lists what there is."
        case .rowIsHeld: "`syncd held` shows why."
        case .refused: "First change what prevents it: a constraint, a trigger or another row."
        case .invalid: "Check the limits of the process and of the machine, and try again."
        default: general
        }
    }
}

extension SyncError.Code {
    /// nil where the first thing to look at is the peer.
    var advice: String? {
        switch self {
        case .unsupportedVersion: "Run the same release of syncd on both machines."
        case .unauthorized: "Give the token of that peer with --token-file."
        case .otherCluster: "Replicas exchange changes only within one cluster; check the address."
        case .selfPeer: "Name another replica; a copy of this file gets an identity of its own with `syncd rekey`."
        case .gap, .busy, .tooManyRequests: "Try again in a moment."
        case .clockSkew: "Compare the clocks of both machines; `syncd clock` tells more."
        case .fork: "One of the files is a copy or was restored: `syncd rekey` gives it an identity of its own."
        case .tooLarge: "Run the same release of syncd on both machines: its limits fit together."
        case .storage: "Check the free space on the disk and the permissions of the file."
        case .configuration: "A peer is http://host:port, https://host:port or the path of a replica's file."
        case .cancelled: "Run the command again."
        default: nil
        }
    }
}
