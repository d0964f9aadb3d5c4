// Everything that is tested on the whole program, in one browser and on one server.

import "./data.test.js";
import "./artifacts.test.js";
import "./charts.test.js";
import "./reconcile.test.js";
import "./a11y.test.js";
import "./safety.test.js";
import "./runs.test.js";
import "./odd.test.js";
import "./speed.test.js";
