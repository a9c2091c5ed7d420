import Foundation
import Store

// A small service that works with live objects on its local file, while a daemon replicates the file.
// `make demo` runs it on one of two replicas of the Chinook database.

@Model
final class Artist {
    @PrimaryKey @Column("ArtistId") var id: Int64
    @Column("Name") var name: String?
}

@Model
final class Album {
    @PrimaryKey @Column("AlbumId") var id: Int64
    @Column("Title") var title: String = ""
    @Column("ArtistId") var artist: Int64
}

@main
struct ChinookWriter {
    static let artists = 5
    static let saves = 200

    static func main() async throws {
        guard CommandLine.arguments.count == 2 else {
            FileHandle.standardError.write(Data("Usage: chinook-writer FILE\n".utf8))
            exit(64)
        }
        let db = try Database(path: CommandLine.arguments[1])
        // The sequence starts before the first write, so that it misses no change of other machines.
        let changes = Artist.changes(in: db)
        let artist = try makeArtists(in: db)
        try editAndFollow(artist, in: db)
        try saveMany(in: db)
        await waitForOthers(changes, artist)
        try db.close()
    }

    /// Creates all artists and albums in one transaction, so they appear together on other machines.
    static func makeArtists(in db: Database) throws -> Artist {
        let made = try db.transaction {
            try (1...artists).map { number in
                let artist = try Artist.create(in: db) { $0.name = "Tandem \(number)" }
                try Album.create(in: db) {
                    $0.title = "Album \(number)"
                    $0.artist = artist.id
                }
                return artist
            }
        }
        say("made \(made.count) artists with an album each, in one transaction; their keys are random 64-bit numbers")
        return made[0]
    }

    /// Shows that an object follows its row, whichever writer changes it.
    static func editAndFollow(_ artist: Artist, in db: Database) throws {
        try artist.save { $0.name = "Tandem One" }
        let found = try Artist.where(\.name == "Tandem One").first(in: db)
        say("saved \"\(artist.name ?? "")\"; a query finds \(found === artist ? "the same object" : "another object")")
        let count = try Artist.where(.hasPrefix(\.name, "Tandem ")).update(.set(\.name, to: \.name + " (live)"), in: db)
        say("one UPDATE changed \(count) rows, and the object says \"\(artist.name ?? "")\"")
    }

    static func saveMany(in db: Database) throws {
        guard let album = try Album.where(\.title == "Album 1").first(in: db) else { return }
        let clock = ContinuousClock()
        let time = try clock.measure {
            for number in 1...saves { try album.save { $0.title = "Album 1, take \(number)" } }
        }
        let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        say("saved one object \(saves) times, each a durable transaction: \(Int(Double(saves) / seconds)) saves/s")
    }

    /// Waits until another machine changes an artist.
    static func waitForOthers(_ changes: ModelChanges<Artist>, _ artist: Artist) async {
        say("waiting for other machines")
        for await change in changes {
            guard case .remote(let origin) = change.origin else { continue }
            say(
                "replica \(origin.short) changed \(change.columns.sorted().joined(separator: ", ")) of "
                    + "\(change.ids.count) artist; the object says \"\(artist.name ?? "")\"")
            return
        }
    }

    /// Writes a line without buffering, because the demo waits for the lines.
    static func say(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }
}
