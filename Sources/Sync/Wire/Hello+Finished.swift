extension Hello {
    /// What the sender acknowledges for the names that it has finished: nobody else speaks for them.
    var acknowledgementsForFinished: [Acknowledgement] {
        guard let own = acknowledgements.first(where: { $0.origin == origin }) else { return [] }
        let names = Set(finished)
        return acknowledgements.filter { names.contains($0.origin) && $0.origin != origin && $0.vector == own.vector }
    }
}
