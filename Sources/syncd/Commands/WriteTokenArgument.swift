import ArgumentParser
import Journal

extension WriteToken: ExpressibleByArgument {}
