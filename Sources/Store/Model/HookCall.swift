/// A `did…` hook that runs after the commit.
struct HookCall {
    enum Kind {
        case inserted
        case updated(Set<String>)
        case deleted
    }

    let object: any Model
    let kind: Kind

    func run() {
        switch kind {
        case .inserted: object.didInsert()
        case .updated(let columns): object.didUpdate(columns)
        case .deleted: object.didDelete()
        }
    }
}
