// What a reader knows of one stream.

extension StreamReader {
    /// One stream.
    struct Stream {
        var head: StreamHead?
        /// The tag of the head in the last listing.
        var tag = ""
        /// The next pack to read.
        var next: Int64 = 1
        /// When the stream last had news, in steady milliseconds.
        var news: Int64
        /// When a look behind the head was in vain for the last time, in steady milliseconds; nil before the first.
        var looked: Int64?
        /// What the packs hold that could be read, once one of them could not; nil before. What the head says is not
        /// true then.
        var remains: Holdings?
        /// The packs that could not be read.
        var lost: Set<Int64> = []

        /// What the packs behind the head hold that count as held: their writer announces them soon, unless it has left
        /// the stream.
        var ahead = Holdings()

        /// What the packs behind the head hold that were read, however long ago that was.
        var unannounced = Holdings()

        /// What the archive holds by this stream.
        var holds: Holdings {
            var holds = remains ?? head?.holds ?? Holdings()
            holds.merge(ahead)
            return holds
        }

        /// Takes the present head. What was read behind the former one is announced now, or counts as held no more: its
        /// writer has left the stream, or the store was restored from a backup.
        mutating func announce(_ head: StreamHead?) {
            let before = self.head?.last ?? 0
            if let last = head?.last {
                if remains != nil, last < before {
                    readAnew()
                } else if last >= next - 1 {
                    remains?.merge(unannounced)
                    unannounced = Holdings()
                } else if remains != nil, last > before {
                    // Some of it: read again, to know what that holds.
                    next = min(next, before + 1)
                }
            }
            self.head = head
            ahead = Holdings()
        }

        /// Forgets what the packs hold: they are read from the first one on, to know what is left of them.
        mutating func readAnew() {
            remains = Holdings()
            ahead = Holdings()
            unannounced = Holdings()
            next = 1
        }
    }
}
