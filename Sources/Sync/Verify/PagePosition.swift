import Journal

/// The position between two pages of a peer's rows. It detects a peer whose pages never end.
///
/// Keys are only compared for equality, not ordered, because the peer's collations and text encoding may
/// differ from those here. A cycle is found as in R. P. Brent, "An improved Monte Carlo factorization
/// algorithm" (https://doi.org/10.1007/BF01933190): each position is compared with an earlier one, which is
/// replaced after 1, 2, 4, … pages. So the memory is one key, and a cycle is found after few rounds.
struct PagePosition {
    /// The key after which the next page begins; nil at the first row of the table.
    private(set) var after: [Value]?

    private let peer: String
    private var mark: [Value]?
    private var steps = 0
    private var span = 1

    /// - Parameter peer: The name of the peer, for errors.
    init(after: [Value]?, peer: String) {
        self.after = after
        self.peer = peer
        mark = after
    }

    /// Moves to the end of a page that is not the last one.
    ///
    /// - Parameter last: The last key of the page; nil when the page is empty.
    /// - Throws: ``SyncError/Code/invalid`` when the page is empty, or ends where an earlier one ended.
    mutating func advance(to last: [Value]?) throws(SyncError) {
        guard let last else { throw SyncError(.invalid, "\(peer) has more rows, but sent none") }
        guard last != mark else { throw SyncError(.invalid, "\(peer) has more rows, but sent the same ones again") }
        after = last
        steps += 1
        guard steps == span else { return }
        mark = last
        steps = 0
        span *= 2
    }
}
