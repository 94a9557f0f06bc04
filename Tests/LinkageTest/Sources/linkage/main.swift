import FileTree
import ResourceValues
import StoragePolicy

print(try SymbolicLinkPath(CommandLine.arguments[1]).marks())
