import Foundation
import Journal

/// The open entries of the conflict ledger, both versions side by side, with what a restore would do.
enum ConflictsPage {
    static let path = "/conflicts"
    /// The most conflicts of one page, newest first.
    static let most = 50

    /// What the page says.
    struct Listing: Sendable {
        let choice: ConflictChoice
        /// The newest of the chosen conflicts, newest first: ``most`` at most.
        let conflicts: [ConflictEntry]
        /// How many conflicts are open, whatever is chosen.
        let total: Int
        /// The tables that can be chosen.
        let tables: [String]
    }

    static func page(_ listing: Listing, frame: Page.Frame) -> Page {
        Page(
            title: "Conflicts", path: path, frame: frame, time: Date(),
            content: """
                \(LivePart.line(count(listing.total), path: listing.choice.address))
                \(filter(listing))
                \(content(listing, frame: frame))
                """)
    }

    /// How many conflicts are open, as a sentence.
    static func count(_ total: Int) -> LivePart {
        let text =
            total == 0
            ? "No conflict waits for a decision."
            : ConsoleText.count(total, "conflict waits", "conflicts wait") + " for a decision."
        return LivePart(id: "conflict-count", html: "\(text)")
    }

    /// The form that chooses conflicts; nothing where there are none.
    private static func filter(_ listing: Listing) -> HTML {
        let choice = listing.choice
        guard choice.isGiven || listing.total > 1 else { return "" }
        let tables: [HTML] = listing.tables.map { "<option value=\"\($0)\">" }
        let kinds: [HTML] = ConflictEntry.Kind.allCases.map { kind in
            "<option\(choice.kind == kind.rawValue ? " selected" : "")>\(kind.rawValue)</option>"
        }
        return """
            <details\(choice.isGiven ? " open" : "")><summary>Filter</summary>
            <form method="get" action="\(path)">
            <label for="table">Table</label>
            <input type="text" id="table" name="table" value="\(choice.table ?? "")" list="tables">
            <datalist id="tables">\(tables)</datalist>
            <label for="key">Key, or a JSON array of the values of a key of several columns</label>
            <input type="text" id="key" name="key" value="\(choice.key ?? "")">
            <label for="kind">Kind</label>
            <select id="kind" name="kind"><option value="">all</option>\(kinds)</select>
            <div class="actions"><button>Show</button> <a href="\(path)">Show all</a></div>
            </form></details>
            """
    }

    private static func content(_ listing: Listing, frame: Page.Frame) -> HTML {
        let conflicts = listing.conflicts
        guard !conflicts.isEmpty else {
            return listing.choice.isGiven ? "<p>None of the open conflicts is as the filter says.</p>" : ""
        }
        let articles = conflicts.map { article($0, frame: frame) }
        let more: HTML? =
            switch (listing.choice.isGiven, listing.total) {
            case (true, _) where conflicts.count == most:
                "<p class=\"soft\">The newest \(most) at most. <code>syncd conflicts</code> lists all.</p>"
            case (false, (conflicts.count + 1)...):
                """
                <p class="soft">The newest \(conflicts.count) of \(listing.total). <code>syncd conflicts</code> lists \
                all.</p>
                """
            default: nil
            }
        let intro: HTML = """
            <p>Two replicas changed the same thing at the same time. The later write stands; what lost is kept here.</p>
            \(more)
            """
        guard let session = frame.session, frame.mayAct else {
            return """
                \(intro)
                <p class="soft">To restore and dismiss here, sign in with a token of the scope admin. \
                <code>syncd conflicts restore</code> and <code>dismiss</code> do the same.</p>
                \(articles)
                """
        }
        return """
            \(intro)
            <form method="post" action="\(listing.choice.address)"><input type="hidden" name="csrf" value="\(session.csrf)">
            \(articles)
            <div class="actions" role="group" aria-label="Selected conflicts">
            <button name="action" value="restore">Restore the selected</button>
            <button name="action" value="dismiss">Dismiss the selected</button>
            </div>
            </form>
            """
    }

    private static func article(_ conflict: ConflictEntry, frame: Page.Frame) -> HTML {
        let time = ConsoleText.time(Date(timeIntervalSince1970: conflict.time))
        let history = HistoryPage.address(table: conflict.table, key: conflict.key.map(\.value))
        let pick: HTML =
            frame.mayAct
            ? """
            <label class="pick"><input type="checkbox" name="id" value="\(id: conflict.id)"> \
            <span class="soft">Select conflict \(id: conflict.id)</span></label>
            """ : ""
        let actions: HTML =
            frame.mayAct
            ? """
            <div class="actions">\(pick)
            <button name="restore" value="\(id: conflict.id)" aria-label="Restore conflict \(id: conflict.id)">Restore</button>
            <button name="dismiss" value="\(id: conflict.id)" aria-label="Dismiss conflict \(id: conflict.id)">Dismiss</button>
            </div>
            """ : ""
        return """
            <article id="conflict-\(id: conflict.id)">
            <h2>\(conflict.row)</h2>
            <p class="soft">Conflict \(id: conflict.id), \(conflict.kind.rawValue), noticed <time datetime="\(time)">\(time)</time>. \
            <a href="\(history)">History of the row</a></p>
            \(sides(conflict))
            <p>\(effect(of: conflict))</p>
            \(actions)
            </article>

            """
    }

    private static func sides(_ conflict: ConflictEntry) -> HTML {
        let lostTime = ConsoleText.time(milliseconds: conflict.lostStamp.milliseconds)
        let keptTime = ConsoleText.time(milliseconds: conflict.keptStamp.milliseconds)
        var rows: [[HTML]] = [
            ["written by", "<code>\(conflict.lostOrigin.short)</code>", "<code>\(conflict.keptOrigin.short)</code>"],
            ["at", "\(lostTime)", "\(keptTime)"],
        ]
        rows += conflict.lost.map { side in
            let other = conflict.kept.first { $0.column == side.column }?.value.shown
            let isSame = other == side.value.shown
            let lost: HTML = isSame ? "\(side.value.shown)" : "<mark>\(side.value.shown)</mark>"
            let kept: HTML = other.map { isSame ? "\($0)" : "<mark>\($0)</mark>" } ?? "\(conflict.keptText)"
            return ["\(side.column)", "<span class=\"value\">\(lost)</span>", "<span class=\"value\">\(kept)</span>"]
        }
        if conflict.lost.isEmpty {
            rows.append(["", "<mark>\(conflict.lostOperation.name)</mark>", "<mark>\(conflict.keptText)</mark>"])
        }
        return .table("Both versions", ["Column", "Lost", "Stands"], rows)
    }

    /// What a restore does, in one sentence.
    private static func effect(of conflict: ConflictEntry) -> HTML {
        guard conflict.kind != .rekeyed else {
            return "Nothing is to be restored: both rows are there, and this one has a new key. Dismiss the conflict."
        }
        guard !conflict.lost.isEmpty else { return "A restore inserts the row again, if it is gone." }
        let values: [HTML] = conflict.lost.map { "\($0.column) = <span class=\"value\">\($0.value.shown)</span> " }
        return """
            A restore writes \(values) as a new change, which reaches all replicas. If the row is gone, it is inserted \
            again as its writer had it.
            """
    }
}
