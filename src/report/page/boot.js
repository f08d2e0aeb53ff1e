// The first module of the page that is served.
import { live } from "./live.js";
import { start } from "./start.js";

start(live());
