// The last module of a file that opens from a disk.
import { file } from "./file.js";
import { start } from "./start.js";

start(file());
