import { mount } from "svelte";
import App from "./App.svelte";
import { session } from "./lib/session.svelte";
import "./style.css";

if (session.theme) document.documentElement.dataset.theme = session.theme;

mount(App, { target: document.body });
