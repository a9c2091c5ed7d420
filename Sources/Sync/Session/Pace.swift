/// Decides how long a step that is in the way of the file's programs waits before it is repeated.
///
/// Each step owes a rest. Some rest may be outstanding when the next step begins, so that a few steps in a
/// row need not wait.
///
/// Pure: the time is a parameter.
package struct Pace: Sendable, Hashable {
    /// For checks of the file. A snapshot that is open when a program checkpoints its log keeps the log from
    /// starting again. A file that is written without a pause would be read without a pause, and its log
    /// would only grow. So reading takes a tenth of the time.
    static let reading = Pace(restPerMillisecond: 10, allowance: 100)

    /// For changes of a peer that come one by one. Each commit makes a program's transaction fail that has
    /// read and is about to write, so changes that come quickly share commits: five a second after the first
    /// four.
    package static let applying = Pace(restPerMillisecond: 1, allowance: 600)
    /// The rest that a commit of changes of a peer owes, in milliseconds.
    package static let commitMilliseconds: Int64 = 200

    private let restPerMillisecond: Int64
    private let allowance: Int64
    /// The rest that is outstanding at ``time``, in milliseconds.
    private var owed: Int64 = 0
    private var time: Int64?

    /// - Parameters:
    ///   - restPerMillisecond: The rest that a step owes for each millisecond of it.
    ///   - allowance: The rest that may be outstanding when a step begins, in milliseconds.
    init(restPerMillisecond: Int64, allowance: Int64) {
        self.restPerMillisecond = restPerMillisecond
        self.allowance = allowance
    }

    /// Records a step.
    ///
    /// - Parameters:
    ///   - milliseconds: How long it took, or counts for.
    ///   - now: Its end, in steady milliseconds.
    package mutating func took(_ milliseconds: Int64, until now: Int64) {
        pass(now)
        owed += max(0, milliseconds) * restPerMillisecond
    }

    /// Returns how long the next step has to wait, in milliseconds.
    package mutating func delay(at now: Int64) -> Int64 {
        pass(now)
        return max(0, owed - allowance)
    }

    private mutating func pass(_ now: Int64) {
        if let time { owed = max(0, owed - max(0, now - time)) }
        time = now
    }
}
