import Foundation
import Observation
import Store
import TestSupport
import Testing

@Model
final class Player {
    var id: Int64
    var name: String = ""
}

@Model
final class Solo {
    var id: Int64
    var player: Ref<Player>  // the key of a row of Player, stored as Player stores it
    var bars: Int = 32
}

/// The examples of `docs/STORE.md` about edits, queries, relations, live results and caches, word for word.
@Suite("The guide to queries", .timeLimit(.minutes(1)))
struct GuideQueryTests {
    let directory = TemporaryDirectory()

    @Test("[22] the examples about queries and live results do what docs/STORE.md says")
    func examples() async throws {
        let db = try Database(path: directory.file("queries.sqlite")) { schema in
            schema.automatic(Track.self)
            schema.automatic(Player.self)
            schema.automatic(Solo.self)
        }
        let song = try Track.create(in: db) {
            $0.title = "So What"
            $0.seconds = 562
            $0.added = .now
        }
        let draft = try Track.makeUnsaved(in: db) {  // in memory, of its key from now on; rowState is .new
            $0.title = "Blue in Green"
            $0.added = .now
        }
        let edit = song.edit()
        edit.title = "So What (take 2)"  // the object, and everyone else, sees nothing of it
        #expect(song.title == "So What" && draft.isNew)
        try db.save([draft, edit])  // one transaction: all, or nothing
        try Track.modify(song.id, in: db) { $0.tags.append("modal") }
        #expect(song.title == "So What (take 2)" && song.tags == ["modal"] && !draft.isNew)
        try Track.upsert(song.id, in: db) {
            $0.title = "So What"
            $0.added = .now
        }
        #expect(song.title == "So What" && song.tags.isEmpty && song.seconds == nil)
        try song.save { $0.seconds = 562 }

        let slow = Track.where(\.seconds > 300 && \.title != "").order(by: \.title)  // a value; nothing is read yet
        let ten = try slow.limit(10).all(in: db)  // live objects
        let pairs = try slow.select(\.title, \.seconds, in: db)  // [(String, Int?)]
        let sum = try Track.where(.like(\.title, "So%")).sum(\.seconds, in: db)
        let mixed = try Track.where(\.seconds == nil || .sql("lower(title) = \("x")")).count(in: db)
        let some = try Track.find([song.id, draft.id], in: db)  // any number of keys, in this order
        #expect(ten.first === song && pairs.first?.1 == 562 && sum == 562 && mixed == 1 && some.count == 2)

        try slow.update(.set(\.seconds, to: \.seconds + 1), .set(\.tags, to: ["slow"]), in: db)
        #expect(song.seconds == 563 && song.tags == ["slow"])
        try Track.update(ids: [song.id], .set(\.seconds, to: nil), in: db)
        try Track.where(\.title == "").delete(in: db)
        #expect(song.seconds == nil && !draft.isDeleted)
        try song.save { $0.seconds = 562 }

        let miles = try Player.create(in: db) { $0.name = "Miles" }
        let solo = try Solo.create(in: db) { $0.player = Ref(miles) }
        let player = try solo.related(\.player)  // looked up when asked for
        let solos = try miles.related(Solo.self, by: \.player).order(by: \.bars).all(in: db)
        let everyOne = try Solo.query.including(\.player).all(in: db)  // [(Solo, Player?)], two queries
        let byPlayer = try Player.query.including(Solo.self, by: \.player).all(in: db)  // [(Player, [Solo])]
        let joined = try Player.join(Solo.self, on: \.id == \.player).where(joined: \.bars > 16).all(in: db)
        #expect(player === miles && solos.first === solo && everyOne.first?.1 === miles)
        #expect(byPlayer.first?.1.first === solo && joined.first?.1 === solo)

        for try await tracks in Track.where(\.seconds > 300).order(by: \.title).live(in: db) {
            print(tracks.map(\.title))
            #expect(tracks.count == 1)
            break
        }
        for try await total in db.live({ try db.value(Int.self, "SELECT sum(seconds) FROM Track") }) {
            print(total ?? 0)
            #expect(total == 562)
            break
        }
        withObservationTracking {
            print(song.title)
        } onChange: {
            print("the title has changed")
        }

        let charts = try Track.query.order(.descending(\.seconds)).limit(3).cached(in: db)
        let playtime = try db.cached("playtime") { try Track.query.sum(\.seconds, in: db) }
        #expect(charts.first === song && playtime == 562)
        try db.close()
    }
}
