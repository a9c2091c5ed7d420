import SyncdCore

await CommandLineTool.run()
