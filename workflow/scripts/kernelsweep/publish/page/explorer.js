"use strict";

// The explorer of the timed points: explorer.py has the data's form. A view is an object of texts; the address holds it.

(async () => {
  const ADDRESS = "#explorer?";
  const LINES = "lines", POINTS = "points", MAP = "map";
  const VIEWS = { [LINES]: "best configurations", [POINTS]: "every point", [MAP]: "heat map" };
  const KERNEL = "kernel", BEST = "best", NO_POINT = "no point", HEIGHT = 432, NEAR = 40;
  // The properties of a mark that the page's style sheet sets.
  const LOOK = ["fill", "stroke", "strokeWidth", "strokeLinecap", "opacity", "fontFamily", "fontSize"];
  // A tick of a hundred thousand or more is that much wider.
  const LARGE = 1e5, WIDER = 18;
  const MARGIN = { left: 64, right: 16, top: 12, bottom: 56 };
  // As in the figures: the room above the largest value, and that around ratios; an axis is logarithmic where its ends
  // are further apart than this factor, one of ratios from the next on.
  const HEADROOM = 1.08, AROUND = 1.02, LOGARITHMIC_FROM = 12, RATIOS_FROM = 3;
  const LABEL_HEIGHT = 14, NAME_HEIGHT = 12, PER_LETTER = 6.7;
  // A narrower chart has no names at its lines.
  const NARROW = 520;
  // A longer value has a line of a narrow page for itself.
  const SHORT = 6;
  // Every point: the least width and height of a kernel's panel, and the room around it; the distance of marks beside each
  // other, and the part of a value's room that they take.
  const PANEL = 330, LEAST_HEIGHT = 150, PANEL_MARGIN = { left: 36, top: 28, bottom: 20 }, DOT = 5, OF_ROOM = 0.85;
  // The most room that a mark without a line has beside others.
  const MARK = 14;
  // An axis of more values is no map's first choice of those that say how a kernel is launched.
  const MOST_CELLS = 16;
  // A map's key: its width, and the room of its numbers.
  const KEY = 12, KEY_TEXT = 52;
  // The times of the chosen baseline over a kernel's, the fastest's at the same size over a kernel's, and the share of
  // the peak.
  const GAIN = "gain", BEST_SHARE = "best_share", SHARE = "peak_fraction";

  const section = document.getElementById("explorer");
  const [controls, kernelList, chart, tip, count, key, details] = [".controls", ".kernels", ".chart", ".tip", ".count", ".names", ".details"]
    .map((name) => section.querySelector(name));
  const packed = Uint8Array.from(atob(document.getElementById("points").textContent), (letter) => letter.charCodeAt(0));
  const studies = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  const SHADES = section.dataset.shades.split(";");
  let view, study, drawn;

  const create = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const colour = (kernel) => study.colours[kernel];
  const shadeAt = (place) => SHADES[Math.round(place * (SHADES.length - 1))];
  // D3's symbols, and a triangle that points down.
  const SYMBOLS = [...d3.symbols, { draw: (context, size) => {
    const down = Math.sqrt(size / (Math.sqrt(3) * 3)), across = Math.sqrt(3) * down;
    context.moveTo(0, 2 * down);
    context.lineTo(across, -down);
    context.lineTo(-across, -down);
    context.closePath();
  } }];
  // The kernels that a reader sees first have the first marks, which differ.
  const symbol = (kernel, size) => {
    const place = [...new Set([...study.usual, ...study.kernels])].indexOf(study.kernels[kernel]);
    return d3.symbol().type(SYMBOLS[place % SYMBOLS.length]).size(size)();
  };
  const icon = (kernel) => {
    const svg = d3.create("svg").attr("width", 16).attr("height", 16).attr("aria-hidden", true);
    svg.append("path").attr("transform", "translate(8,8)").attr("d", symbol(kernel, 60)).attr("fill", colour(kernel));
    return svg.node();
  };
  const axisNamed = (name) =>
    name === KERNEL ? { name, title: KERNEL, values: study.kernels, labels: study.names, numbers: study.kernels.map(() => null) }
      : study.axes.find((axis) => axis.name === name);
  const placeOf = (name, point) => (name === KERNEL ? study.kernel[point] : study.at[name][point]);
  const number = (value) => (value === null ? "–" : d3.format(value >= 1e4 ? ",.0f" : ",.4~g")(value));
  // The decimals with which a number has four digits, or all before its point.
  const decimals = (value) => (value > 0 ? Math.min(Math.max(3 - Math.floor(Math.log10(value)), 0), 3) : 0);
  const interval = (point) => ({ value: study.values.time_us[point], low: study.low[point], high: study.high[point] });

  // A quotient of two measured quantities with its interval, as statistics.py has it.
  function ratio(over, under) {
    const below = Math.hypot(Math.log(over.value / over.low), Math.log(under.high / under.value));
    const above = Math.hypot(Math.log(over.high / over.value), Math.log(under.value / under.low));
    const value = over.value / under.value;
    return { value, low: value * Math.exp(-below), high: value * Math.exp(above) };
  }

  const isThrottled = ({ point }) => study.remarks[study.flags[point]].split(" ").includes("throttled");
  const doTie = (one, other) => ratio(one, other).low <= 1 && ratio(other, one).low <= 1;

  // The axes that a view draws. All others have one value, or the best is taken; but an axis follows the one that it is
  // tied to.
  const drawnAxes = () => (view.view === MAP ? [view.over, view.across] : [view.over]);
  const isFree = (name) => drawnAxes().some((axis) => axis === name || study.tied.some((group) => group.includes(axis) && group.includes(name)))
    || study.tied.some((group) => group.indexOf(name) > 0);

  // A view with all of a study's parts: what `wanted` leaves out, or names wrongly, is as usual.
  function complete(wanted) {
    const name = wanted.study in studies ? wanted.study : Object.keys(studies)[0];
    study = studies[name];
    const names = study.axes.map((axis) => axis.name);
    const isMap = wanted.view === MAP, rank = (axis) => axis.values.length - (axis.of_kernel && axis.values.length > MOST_CELLS ? LARGE : 0);
    const several = (ofKernel) => study.axes.filter((axis) => axis.of_kernel === ofKernel).sort((a, b) => rank(b) - rank(a));
    const usual = [...several(false).filter((axis) => axis.numbers[0] !== null), ...several(true), ...several(false)].map((axis) => axis.name);
    const one = (value, allowed) => (allowed.includes(value) ? value : allowed[0]);
    const over = one(wanted.over, [...(isMap ? several(true).map((axis) => axis.name) : []), ...usual, KERNEL]);
    const across = one(wanted.across, [...several(true).map((axis) => axis.name), KERNEL, ...names].filter((axis) => axis !== over));
    const filters = study.axes.map((axis) => {
      const wished = wanted[`at.${axis.name}`];
      const usualValue = axis.reference < 0 ? BEST : axis.values[axis.reference];
      return [`at.${axis.name}`, axis.values.includes(wished) || wished === BEST ? wished : usualValue];
    });
    // A limit does a smaller problem: of a map's cells it would be the fastest.
    const usualKernels = study.usual.filter((kernel) => !isMap || over === KERNEL || across === KERNEL || !study.limits.includes(kernel));
    const kernels = wanted.kernels === undefined ? usualKernels
      : wanted.kernels.split(",").filter((kernel) => study.kernels.includes(kernel));
    const view = one(wanted.view, Object.keys(VIEWS)), isRatio = study.baseline || (study.is_close && view === LINES);
    const show = one(wanted.show ?? (isRatio && GAIN), [...Object.keys(study.quantities), BEST_SHARE, GAIN]);
    const baseline = one(wanted.baseline ?? study.baseline ?? study.first, baselines().map(([name]) => name));
    return { study: name, view, show, baseline, over, across, ...Object.fromEntries(filters), kernels: kernels.join(",") };
  }

  const baselines = () => [...(study.libraries.length ? [[study.first, study.first]] : []), ...study.kernels.map((kernel, place) => [kernel, study.names[place]])];

  function show(wanted, address = true) {
    view = complete(wanted);
    if (address) remember();
    hideTip();
    makeControls();
    draw();
  }

  const remember = () => history.replaceState(null, "", ADDRESS + new URLSearchParams(view));

  // What a reader chose, for another view: not what the view began with.
  const chosenIn = (usual) => Object.fromEntries(Object.entries(view).filter(([key, value]) => key === "study" || value !== usual[key]));

  function choice(label, key, options) {
    const list = create("select", { name: key, onchange: () => {
      show({ ...(key === "study" ? {} : key === "view" ? chosenIn(complete({ study: view.study, view: view.view })) : view), [key]: list.value });
      controls.querySelector(`[name="${key}"]`)?.focus();
    } });
    list.append(...options.map(([value, text]) => create("option", { value, textContent: text, selected: value === view[key] })));
    return create("label", {}, create("span", { textContent: label }), list);
  }

  // An axis of numbers has a slider. While it moves the chart follows; the address waits for its end, because browsers
  // refuse too many changes.
  function slider(label, key, options) {
    const place = options.findIndex(([value]) => value === view[key]), [, text] = options[place];
    const shown = create("output", { textContent: text });
    const longest = Math.max(...options.map(([, words]) => words.length));
    shown.style.minWidth = `${longest}ch`;
    const range = create("input", { type: "range", name: key, min: 0, max: options.length - 1, value: place, ariaValueText: text, onchange: remember, oninput: () => {
      [view[key], shown.textContent] = options[range.value];
      range.ariaValueText = shown.textContent;
      hideTip();
      draw();
    } });
    return create("label", { className: longest > SHORT ? "wide" : "" }, create("span", { textContent: label }), range, shown);
  }

  function makeControls() {
    const axes = study.axes.map((axis) => [axis.name, axis.title]);
    const filters = study.axes.filter((axis) => !isFree(axis.name)).map((axis) => {
      const values = axis.values.map((value, place) => [value, axis.labels[place]]);
      const control = axis.numbers[0] === null ? choice : slider;
      return control(axis.title, `at.${axis.name}`, [[BEST, view.view === POINTS ? "all" : BEST], ...values]);
    });
    controls.replaceChildren(
      ...(Object.keys(studies).length > 1 ? [choice("study", "study", Object.keys(studies).map((name) => [name, name]))] : []),
      choice("view", "view", Object.entries(VIEWS)),
      choice("show", "show", [...Object.entries(study.quantities), [BEST_SHARE, titleOf(BEST_SHARE)], [GAIN, "times as fast as ..."]]),
      ...(view.show === GAIN ? [choice("baseline", "baseline", baselines())] : []),
      choice("over", "over", view.view === MAP ? [[KERNEL, KERNEL], ...axes] : axes.length ? axes : [[KERNEL, KERNEL]]),
      ...(view.view === MAP ? [choice("and", "across", [[KERNEL, KERNEL], ...axes].filter(([name]) => name !== view.over))] : []),
      ...filters,
    );
    const chosen = view.kernels.split(",");
    const boxes = study.kernels.map((kernel, place) => {
      const box = create("input", { type: "checkbox", value: kernel, checked: chosen.includes(kernel), onchange: choose });
      const label = create("label", {}, box, icon(place), create("span", {}, ...`${study.names[place]}${study.undefined.includes(kernel) ? " †" : ""}`.split(/(?<=_)/).flatMap((part) => [part, create("wbr")])));
      label.onpointerenter = () => emphasise(place);
      label.onpointerleave = () => emphasise(null);
      return label;
    });
    const every = (checked) => create("button", { type: "button", textContent: checked ? "all" : "none", onclick: () => {
      kernelList.querySelectorAll("input").forEach((box) => { box.checked = checked; });
      choose();
    } });
    kernelList.replaceChildren(create("legend", { textContent: "kernels" }), every(true), every(false), ...boxes);
  }

  function choose() {
    const chosen = [...kernelList.querySelectorAll("input:checked")].map((box) => box.value);
    view.kernels = chosen.join(",");
    remember();
    draw();
  }

  const emphasise = (kernel) =>
    chart.querySelectorAll("[data-kernel]").forEach((mark) => { mark.style.opacity = kernel === null || +mark.dataset.kernel === kernel ? 1 : 0.12; });

  // The points that the view's choices leave, and of those the fastest at each value on the drawn axes.
  function chosenPoints(kernels = view.kernels, axes = drawnAxes()) {
    const chosen = new Set(kernels.split(",").map((kernel) => study.kernels.indexOf(kernel)));
    const fixed = study.axes.filter((axis) => !isFree(axis.name) && view[`at.${axis.name}`] !== BEST)
      .map((axis) => [study.at[axis.name], axis.values.indexOf(view[`at.${axis.name}`])]);
    const values = study.values[view.show] ?? study.values.time_us, found = [];
    for (let point = 0; point < study.kernel.length; point++) {
      if (values[point] !== null && chosen.has(study.kernel[point]) && axes.every((axis) => placeOf(axis, point) >= 0)
        && fixed.every(([places, place]) => places[point] === place || places[point] < 0)) found.push(point);
    }
    return found;
  }

  function best(points, keysOf) {
    const found = new Map();
    for (const point of points) {
      const key = keysOf(point).join(), other = found.get(key);
      if (other === undefined || study.values.time_us[point] < study.values.time_us[other]) found.set(key, point);
    }
    return [...found.values()];
  }

  // Where an axis' numbers stand; null for categories, which no line joins.
  const scaled = (axis, places) => (view.view !== POINTS && places.length > 1 && axis.on_line?.includes(true) ? places.map((place) => axis.places[place]) : null);

  // A scale of an axis' values: to scale for numbers, evenly spaced for categories.
  function scaleOf(axis, places, range) {
    const numbers = scaled(axis, places);
    if (!numbers) return d3.scalePoint().domain(places).range(range).padding(view.view === LINES && isNarrow() ? 0.25 : 0.5);
    const wide = d3.scaleLinear().domain([numbers[0], numbers.at(-1)]).range(range);
    return (place) => wide(axis.places[place]);
  }

  // As many of an axis' labels as fit; of panels, others below these.
  function fitting(axis, places, scale, room) {
    let last = -Infinity;
    return places.filter((place) => {
      const half = room(axis.labels[place]) / 2, fits = scale(place) - half >= last;
      if (fits) last = scale(place) + half;
      return fits;
    });
  }

  const roomAcross = (text, letters = Infinity) => PER_LETTER * Math.max(...inLines(plain(text), letters).map((line) => line.trim().length)) + 6;

  // A text in lines of at most so many letters, which begin behind blanks.
  const inLines = (text, letters, ends = /(?<= )/) => text.split(ends).reduce((lines, word) => {
    if (lines.length && (lines.at(-1) + word).trim().length <= letters) lines[lines.length - 1] += word; else lines.push(word);
    return lines;
  }, []);

  const plain = (text) => text.replaceAll("\u00a0", " ");
  const writeLines = (text, lines, x, y) => d3.select(text).selectAll("tspan").data(lines).enter().append("tspan")
    .attr("x", x).attr("y", (_, number) => y + LABEL_HEIGHT * number).text(String);

  // `letters`: of a label on one line.
  function labels(area, axis, places, scale, isUp, height = HEIGHT - MARGIN.bottom, letters = Infinity) {
    const room = isUp ? () => 16 : (text) => roomAcross(text, letters);
    const shown = fitting(axis, places, scale, room);
    const lower = fitting(axis, places.filter((place) => !isUp && view.view === POINTS && !shown.includes(place)), scale, room);
    const y = (place) => (isUp ? scale(place) + 4 : height + (lower.includes(place) ? 18 + LABEL_HEIGHT : 18));
    area.svg.append("g").selectAll("text").data([...lower, ...shown]).enter().append("text").attr("text-anchor", isUp ? "end" : "middle")
      .each((place, number, texts) => writeLines(texts[number], inLines(plain(axis.labels[place]), letters), isUp ? area.left - 8 : scale(place), y(place)));
  }

  // The drawn axes that say which problem is solved.
  const problemAxes = () => drawnAxes().filter((name) => name !== KERNEL && !axisNamed(name).of_kernel);

  // What the chart shows of each point, and the ends of its interval. A ratio is to the baseline's best at the same
  // place, or to the fastest of all at the same size.
  function shownValues() {
    const times = study.values.time_us;
    if (view.show !== GAIN && view.show !== BEST_SHARE) {
      const values = study.values[view.show], { low, high } = study;
      return [values, view.show === "time_us" ? (point) => [low[point], high[point]]
        : (point) => [high, low].map((ends) => values[point] * times[point] / ends[point])];
    }
    const isGain = view.show === GAIN, percent = isGain ? 1 : 100;
    const candidates = isGain ? chosenPoints(study.kernels.includes(view.baseline) ? view.baseline : study.libraries.join(), []) : chosenPoints();
    // A library has no value on an axis of kernels: it is the baseline at each.
    const axes = isGain ? drawnAxes().filter((name) => name !== KERNEL && candidates.some((point) => placeOf(name, point) >= 0)) : problemAxes();
    const keyOf = (point) => axes.map((name) => placeOf(name, point));
    const bases = new Map(best(candidates, keyOf).map((point) => [keyOf(point).join(), point]));
    const baseOf = (point) => bases.get(keyOf(point).join());
    const ends = (point) => {
      const found = baseOf(point) === point ? { low: 1, high: 1 } : ratio(interval(baseOf(point)), interval(point));
      return [percent * found.low, percent * found.high];
    };
    return [times.map((time, point) => (baseOf(point) === undefined ? null : percent * times[baseOf(point)] / time)), ends];
  }
  const baselineName = () => study.names[study.kernels.indexOf(view.baseline)] ?? view.baseline;
  const titleOf = (name) => ({ [GAIN]: `times as fast as ${baselineName()}`, [BEST_SHARE]: "% of the fastest" }[name] ?? study.quantities[name]);

  // The lower and upper limit of what a chart shows. Ratios are read against 1, all else against 0.
  function limits(low, high) {
    if (view.show === GAIN) return [Math.min(low, 1) / AROUND, Math.max(high, 1) * AROUND];
    if (isLogarithmic(low, high)) return [low / HEADROOM, high * HEADROOM];
    return [0, view.show === SHARE ? Math.max(high, 100) : high * HEADROOM];
  }

  function canvas(left, label, height = HEIGHT) {
    const width = chart.clientWidth;
    const svg = d3.select(chart).html("").append("svg").attr("width", width).attr("height", height).attr("viewBox", `0 0 ${width} ${height}`)
      .attr("tabindex", 0).attr("role", "img").attr("aria-label", label);
    svg.append("text").attr("class", "title").attr("x", (left + width) / 2).attr("y", height - 6).attr("text-anchor", "middle").text(axisNamed(view.over).title);
    return { svg, left, right: width - MARGIN.right };
  }

  function draw() {
    details.replaceChildren();
    const points = chosenPoints(), label = `${titleOf(view.show)} over ${drawnAxes().map((name) => axisNamed(name).title).join(" and ")}`;
    const marked = { [MAP]: drawMap, [POINTS]: drawPoints, [LINES]: drawLines }[view.view](points, label);
    const sizes = problemAxes().map((name) => axisNamed(name).title).join(" and ");
    const cellWords = [chart.querySelector(".cells") && "Number", view.show !== "time_us" && "colour"].filter(Boolean).join(" and ").replace(/^c/, "C") || "Colour";
    // Kernels that aren't ticked may be faster.
    const ofTicked = view.kernels.split(",").length < study.kernels.length ? " of the ticked" : "";
    const ofMap = ` ${cellWords} of a cell: ${titleOf(view.show)} of its fastest point${chart.querySelector(".cells + .cells") ? ", whose kernel is named" : ""}.${marked.start ? ` Colours start at ${number(marked.start)}${view.show === "time_us" ? "% of the fastest" : ""}, not at zero.` : ""} Thick outline: the fastest${ofTicked}${marked.first}${sizes && ` at each ${sizes}`}; thin: its ties.`;
    const there = new Set(points.map((point) => study.kernels[study.kernel[point]]));
    const absent = view.kernels.split(",").filter((kernel) => kernel && !there.has(kernel)).map((kernel) => study.names[study.kernels.indexOf(kernel)]);
    const possible = new Set(chosenPoints(study.kernels.join()).map((point) => study.kernels[study.kernel[point]]));
    kernelList.querySelectorAll("label").forEach((label) => label.classList.toggle("absent", !possible.has(label.firstChild.value)));
    const undrawn = absent.length ? ` Without a point here: ${absent.join(", ")}.` : "";
    const cells = new Set(marked.map((mark) => mark.x)).size * new Set(marked.map((mark) => mark.y)).size;
    const empty = view.view === MAP && marked.length < cells ? " Empty: no timed point." : "";
    const ofBest = view.view !== MAP && view.show === BEST_SHARE && ofTicked ? ` The fastest${ofTicked}.` : "";
    const lines = view.view === POINTS ? " Grey: the fastest of all panels; in a circle: the panel's fastest at its last value, which its head describes." : chart.querySelector(".partial") ? " Dashed: does a part of the work." : "";
    const [values] = shownValues(), placesOf = (some) => new Set(some.map((point) => placeOf(view.over, point))), based = placesOf(points.filter((point) => values[point] !== null));
    const texts = (places) => [...places].sort(d3.ascending).map((place) => axisNamed(view.over).labels[place]).join(", "), alike = marked.alike ?? [];
    const unbased = [...placesOf(points)].filter((place) => !based.has(place) && !alike.includes(place));
    const leftOut = alike.length ? ` Only in other views, as they nearly equal others: ${texts(alike)}.` : "";
    const lacking = view.show === GAIN && unbased.length && !chart.querySelector(".absent text") ? ` Not drawn, without a point of ${baselineName()}: ${texts(unbased)}.` : "";
    const throttled = marked.some(isThrottled) ? ` ${view.view === MAP ? "*" : "Hollow"}: throttled, too few samples at the full clock.` : "";
    count.textContent = points.length
      ? `${study.title} – ${label}. ${points.length.toLocaleString("en")} of ${study.kernel.length.toLocaleString("en")} timed points, ${marked.length.toLocaleString("en")} drawn.${view.view === MAP ? ofMap : ""}${ofBest}${lines}${empty}${throttled}${undrawn}${lacking}${leftOut}`
      : `${study.title} – no timed point is left by these choices.`;
    drawn = marked;
    // In a narrow chart, marks have no room for names.
    key.replaceChildren(...[...(isNarrow() && marked.names) || []].map(([kernel, name]) => create("span", {}, icon(kernel), name)));
    section.dataset.ready = performance.now();
  }

  const isNarrow = () => chart.clientWidth < NARROW;
  const isLogarithmic = (low, high) => high / low > ({ time_us: LOGARITHMIC_FROM, [GAIN]: RATIOS_FROM }[view.show] ?? Infinity);

  // A value at a line's end, as in the figures: 93%, 1.12×, 46.8, 23,459.
  const endText = (value) => ([SHARE, BEST_SHARE].includes(view.show) ? `${value.toFixed(value < 10)}%`
    : `${d3.format(value >= 1e3 ? ",.0f" : ".3r")(value)}${view.show === GAIN ? "×" : ""}`);

  // Kernels' names from the highest end on, each with its last value, and where it ends before the others.
  const endNames = (points, last, values) => new Map([...d3.group(points, (point) => study.kernel[point])].map(([kernel, ofKernel]) => {
    const end = d3.greatest(ofKernel, (point) => placeOf(view.over, point)), place = placeOf(view.over, end);
    return [kernel, `${study.names[kernel]} ${place < last ? `(${axisNamed(view.over).labels[place]}) ` : ""}${endText(values[end])}`, values[end]];
  }).sort((a, b) => b[2] - a[2]));

  // Names at the lines' ends, moved apart around their middle, with a line to an end at the last value that is not beside
  // its name.
  function endLabels({ svg, right }, marks, texts, last) {
    if (isNarrow()) return;
    const ends = [...d3.group(marks, (mark) => study.kernel[mark.point])].map(([kernel, ofKernel]) => {
      const at = d3.greatest(ofKernel, (mark) => mark.x);
      return { kernel, at };
    });
    ends.sort((a, b) => a.at.y - b.at.y);
    const placeAt = (end) => placeOf(view.over, end.at.point), x = right + 4, piles = [];
    const piled = (pile) => {
      const high = LABEL_HEIGHT * (pile.length - 1), top = pile.reduce((sum, end) => sum + end.at.y, 0) / pile.length - high / 2;
      return Object.assign(pile, { top: Math.max(MARGIN.top, Math.min(top, HEIGHT - MARGIN.bottom - high)) });
    };
    for (const end of ends) {
      let pile = piled([end]);
      while (piles.length && piles.at(-1).top + LABEL_HEIGHT * piles.at(-1).length > pile.top) pile = piled([...piles.pop(), ...pile]);
      piles.push(pile);
    }
    // As in the figures: names beside each other with one value share a bracket.
    const valueOf = (end) => texts.get(end.kernel).split(" ").at(-1), shared = [];
    for (const pile of piles) {
      pile.forEach((end, place) => {
        end.y = pile.top + LABEL_HEIGHT * place;
        if (place && valueOf(end) === valueOf(pile[place - 1]) && placeAt(end) === placeAt(pile[place - 1])) shared.at(-1).push(end);
        else shared.push([end]);
      });
    }
    const brackets = shared.filter((of) => of.length > 1 && placeAt(of[0]) === last), bracketed = new Set(brackets.flat());
    svg.append("path").attr("class", "leader").attr("d", brackets.map((of) => {
      const low = of[0].y - 4, high = of.at(-1).y + 4;
      return `M${x},${low}h-3V${high}h3M${of[0].at.x + 6},${(of[0].at.y + of.at(-1).at.y) / 2}L${x - 3},${(low + high) / 2}`;
    }).join(""));
    const names = svg.append("g").selectAll("g").data(ends).enter().append("g").attr("data-kernel", (end) => end.kernel);
    names.append("text").attr("data-kernel", (end) => end.kernel).attr("x", (end) => x + 3 * bracketed.has(end)).attr("y", (end) => end.y + 4)
      .style("fill", (end) => colour(end.kernel)).text((end) => texts.get(end.kernel));
    names.filter((end) => !bracketed.has(end) && Math.abs(end.y - end.at.y) > LABEL_HEIGHT / 2 && placeAt(end) === last).append("path").attr("class", "leader")
      .attr("d", (end) => `M${end.at.x + 6},${end.at.y}L${x - 3},${end.y}`);
  }

  // The axis of what a chart shows, from `bottom` to `top`, with a line across its width per tick, and where it is read
  // against 1 or 100%.
  function drawUp(svg, [left, right], [low, high], [bottom, top]) {
    const isLog = isLogarithmic(low, high), y = (isLog ? d3.scaleLog() : d3.scaleLinear()).domain(limits(low, high)).range([bottom, top]);
    const ticks = d3.axisLeft(y).ticks(Math.min(isLog ? 10 : 6, (bottom - top) / 30), isLog ? "," : undefined).tickSize(left - right);
    svg.append("g").attr("class", "grid").attr("transform", `translate(${left},0)`).call(ticks);
    const limit = { [SHARE]: 100, [GAIN]: 1 }[view.show];
    if (limit) svg.append("path").attr("class", "limit").attr("d", `M${left},${y(limit)}H${right}`);
    return y;
  }

  // The points with a value, their kernels, and the places on the axis: of categories, also those without a value.
  function valued(points, values) {
    const known = points.filter((point) => values[point] !== null), distinct = (places) => [...new Set(places)].sort(d3.ascending);
    const [there, all] = [known, points].map((some) => distinct(some.map((point) => placeOf(view.over, point))));
    return [known, distinct(known.map((point) => study.kernel[point])), view.view === POINTS || scaled(axisNamed(view.over), all) ? there : all];
  }

  function drawLines(all, label) {
    // Of values that nearly equal each other, lines have one.
    const axis = axisNamed(view.over), there = new Set(all.map((point) => placeOf(view.over, point)));
    const alike = [...there].filter((place) => scaled(axis, [...there]) && !axis.on_line[place] && [...there].some((other) => axis.on_line[other] && axis.places[other] === axis.places[place]));
    const points = all.filter((point) => !alike.includes(placeOf(view.over, point)));
    const [values, endsOf] = shownValues(), [known, kernels, places] = valued(points, values);
    const shown = best(known, (point) => [study.kernel[point], placeOf(view.over, point)]);
    const area = canvas(MARGIN.left + (points.some((point) => values[point] >= LARGE) ? WIDER : 0), label), { svg } = area;
    if (!shown.length) return [];
    const names = endNames(shown, places.at(-1), values);
    if (!isNarrow()) area.right -= Math.min(area.right / 2, PER_LETTER * Math.max(...[...names.values()].map((name) => name.length)));
    // Marks that no line joins stand beside each other.
    const isLine = scaled(axis, places), apart = isLine ? 0 : Math.min(OF_ROOM * (area.right - area.left) / places.length / kernels.length, MARK);
    const x = scaleOf(axis, places, [area.left + 16, area.right - 16]);
    const y = drawUp(svg, [area.left, area.right], d3.extent(shown.flatMap(endsOf)), [HEIGHT - MARGIN.bottom, MARGIN.top]);
    svg.append("text").attr("class", "title").attr("transform", `translate(14,${HEIGHT / 2}) rotate(-90)`).attr("text-anchor", "middle").text(titleOf(view.show));
    labels(area, axis, places, x, false);
    const valuedAt = new Set(shown.map((point) => placeOf(view.over, point)));
    svg.append("g").attr("class", "title absent").selectAll("text").data(places.filter((place) => !valuedAt.has(place))).enter().append("text")
      .attr("x", x).attr("y", HEIGHT / 2).attr("text-anchor", "middle").text(`no ${view.show === GAIN ? baselineName() : "value"}`);
    const marks = shown.map((point) => ({ point, x: x(placeOf(view.over, point)) + apart * (kernels.indexOf(study.kernel[point]) - (kernels.length - 1) / 2), y: y(values[point]), column: placeOf(view.over, point) }));
    for (const [kernel, ofKernel] of d3.group(marks, (mark) => study.kernel[mark.point])) {
      const group = svg.append("g").attr("data-kernel", kernel).attr("stroke", colour(kernel)).attr("fill", colour(kernel));
      ofKernel.sort((a, b) => a.x - b.x);
      // No line joins shares of two peaks.
      const runs = [];
      for (const mark of isLine ? ofKernel : []) {
        const peak = view.show === SHARE && study.peak[mark.point];
        if (runs.at(-1)?.peak !== peak) runs.push(Object.assign([], { peak }));
        runs.at(-1).push(mark);
      }
      if (isLine) group.append("path").attr("class", "line").classed("partial", study.limits.includes(study.kernels[kernel])).attr("d", runs.map(d3.line().x((mark) => mark.x).y((mark) => mark.y)).join(""));
      group.append("path").attr("class", "interval").attr("d", ofKernel.map((mark) => `M${mark.x},${endsOf(mark.point).map(y).join("V")}`).join(""));
      group.selectAll(".mark").data(ofKernel).enter().append("path").attr("class", "mark").classed("hollow", isThrottled)
        .attr("transform", (mark) => `translate(${mark.x},${mark.y})`).attr("d", symbol(kernel, 48));
    }
    endLabels(area, marks, names, places.at(-1));
    listen(svg, marks, () => NEAR);
    return Object.assign(marks, { names, alike });
  }

  // Every point: a panel for each kernel, all with one scale, as many beside each other as have room; below its name, its
  // fastest point at the last value, on the axes on which the kernel's points differ.
  function drawPoints(points, label) {
    const axis = axisNamed(view.over), [values] = shownValues(), [known, kernels, places] = valued(points, values);
    const across = Math.max(1, Math.min(kernels.length, Math.floor(chart.clientWidth / PANEL))), rows = Math.ceil(kernels.length / across);
    const { left } = PANEL_MARGIN, room = (chart.clientWidth + left) / across, wide = (room - 2 * left) / places.length, letters = Math.floor(wide / PER_LETTER);
    const bests = new Map(kernels.map((kernel) => {
      const ofKernel = known.filter((point) => study.kernel[point] === kernel), last = placeOf(view.over, d3.greatest(ofKernel, (point) => placeOf(view.over, point)));
      const [first] = best(ofKernel.filter((point) => placeOf(view.over, point) === last), () => []);
      const varied = study.axes.filter(({ name, of_kernel }) => of_kernel && name !== view.over && new Set(ofKernel.map((point) => study.at[name][point])).size > 1);
      const texts = varied.map(({ name, title, labels }) => `${title.split(" (")[0]} ${labels[study.at[name][first]]}`.replaceAll(" ", "\u00a0"));
      return [kernel, { first, lines: inLines(`${endText(values[first])} at ${plain(axis.labels[last])}${texts.length ? ": " : ""}${texts.join(", ")}`, Math.floor((room - 2 * left) / PER_LETTER)) }];
    }));
    const top = PANEL_MARGIN.top + LABEL_HEIGHT * Math.max(0, ...[...bests.values()].map(({ lines }) => lines.length));
    const isLow = fitting(axis, places, scaleOf(axis, places, [0, room - 2 * left]), (text) => roomAcross(text, letters)).length < places.length || places.some((place) => inLines(plain(axis.labels[place]), letters).length > 1);
    const bottom = PANEL_MARGIN.bottom + LABEL_HEIGHT * isLow, height = Math.max(LEAST_HEIGHT, (HEIGHT - MARGIN.bottom) / rows - top - bottom), high = top + height + bottom;
    const { svg } = canvas(left, label, LABEL_HEIGHT + high * rows + PANEL_MARGIN.top);
    if (!known.length) return [];
    svg.append("text").attr("class", "title").attr("y", 12).text(titleOf(view.show));
    const fastest = best(known, (point) => [placeOf(view.over, point)]), ends = d3.extent(known, (point) => values[point]);
    const marks = kernels.flatMap((kernel, number) => {
      const panel = { left: left + room * (number % across), right: room * (number % across + 1) - left, svg: svg.append("g") };
      const start = LABEL_HEIGHT + top + high * Math.floor(number / across), low = start + height;
      const x = scaleOf(axis, places, [panel.left, panel.right]), y = drawUp(panel.svg, [panel.left, panel.right], ends, [low, start]);
      labels(panel, axis, places, x, false, low, letters);
      panel.svg.append("path").attr("class", "best").attr("d", fastest.map((point) => `M${x(placeOf(view.over, point)) - wide / 2},${y(values[point])}h${wide}`).join(""));
      const group = panel.svg.append("g").attr("data-kernel", kernel).attr("fill", colour(kernel));
      const { first, lines } = bests.get(kernel), head = start - top + PANEL_MARGIN.top - 6;
      group.append("path").attr("transform", `translate(${panel.left + 6},${head - 4})`).attr("d", symbol(kernel, 48));
      group.append("text").attr("data-kernel", kernel).attr("x", panel.left + 16).attr("y", head).text(study.names[kernel]);
      writeLines(panel.svg.append("text").attr("class", "title").node(), lines, panel.left, head + LABEL_HEIGHT);
      const ofKernel = known.filter((point) => study.kernel[point] === kernel).map((point) => ({ point, x: x(placeOf(view.over, point)), y: y(values[point]), column: `${number} ${placeOf(view.over, point)}` }));
      spread(ofKernel, OF_ROOM * wide);
      // One path for a kernel, with each pixel once: a hundred thousand elements would take seconds.
      const dots = (name, chosen) => group.append("path").attr("class", name).attr("stroke", colour(kernel)).attr("d", [...new Set(chosen.map((mark) => `M${Math.round(mark.x)},${Math.round(mark.y)}h0`))].join(""));
      dots("dots", ofKernel);
      const named = ofKernel.find(({ point }) => point === first);
      panel.svg.append("circle").attr("class", "named").attr("cx", named.x).attr("cy", named.y).attr("r", DOT);
      const empty = places.filter((place) => roomAcross(NO_POINT) <= wide && ofKernel.every(({ point }) => placeOf(view.over, point) !== place));
      panel.svg.append("g").attr("class", "title absent").selectAll("text").data(empty).enter().append("text").attr("x", x).attr("y", low - 6).attr("text-anchor", "middle").text(NO_POINT);
      if (ofKernel.some(isThrottled)) dots("dots hollow", ofKernel.filter(isThrottled));
      return ofKernel;
    });
    listen(svg, marks, () => NEAR);
    return marks;
  }

  // A kernel's marks at a value, side by side where they would cover each other, in a room as wide as `band`.
  function spread(marks, band) {
    const columns = Math.max(1, Math.floor(band / DOT));
    for (const [, together] of d3.group(marks, (mark) => mark.x)) {
      const last = Array(columns).fill(-Infinity);
      for (const mark of together.sort((a, b) => a.y - b.y)) {
        const free = last.findIndex((y) => y <= mark.y - DOT), column = free < 0 ? last.indexOf(Math.min(...last)) : free;
        last[column] = mark.y;
        mark.x += DOT * (column % 2 ? (column + 1) / 2 : -column / 2);
      }
    }
  }

  function drawMap(points, label) {
    const [across, up] = [axisNamed(view.over), axisNamed(view.across)], [values] = shownValues();
    const shown = best(points, (point) => [placeOf(view.over, point), placeOf(view.across, point)]);
    const upPlaces = [...new Set(shown.map((point) => placeOf(view.across, point)))].sort(d3.ascending);
    const area = canvas(34 + 7.5 * Math.min(30, Math.max(4, ...upPlaces.map((place) => up.labels[place].length))), label), { svg } = area;
    if (!shown.length) return [];
    if (!isNarrow()) area.right -= KEY + KEY_TEXT;
    const places = [...new Set(shown.map((point) => placeOf(view.over, point)))].sort(d3.ascending);
    const band = (domain, range) => d3.scaleBand().domain(domain).range(range);
    const [x, y] = [band(places, [area.left, area.right]), band(upPlaces, [MARGIN.top + LABEL_HEIGHT, HEIGHT - MARGIN.bottom])];
    // As in the figures' maps: one number has one colour, on a scale from zero, or a shorter one of numbers near the best.
    // Its ends are round.
    const [least, most] = d3.extent(shown, (point) => values[point]), isTime = view.show === "time_us";
    const [low, high] = isTime ? [100 * least / most, 100] : [least, most];
    const ends = d3.scaleLinear().domain([Math.max(0, Math.min(2 * low - high, 0.9 * high)), high]).nice(5).domain();
    const shade = (value) => ((isTime ? 100 * least / value : value) - ends[0]) / (ends[1] - ends[0]);
    const fill = (point) => (values[point] === null ? "none" : shadeAt(shade(values[point])));
    const letters = Math.floor(x.bandwidth() / PER_LETTER) - 2, isNamed = !drawnAxes().includes(KERNEL) && y.bandwidth() >= 2.4 * LABEL_HEIGHT && letters >= 10;
    // A long name on several lines, or else cut.
    const nameIn = (point) => {
      const name = study.names[study.kernel[point]], half = Math.floor(letters / 2), lines = inLines(name, letters, /(?<=_)/);
      const fits = lines.every((line) => line.length <= letters) && NAME_HEIGHT * (lines.length + 1) < y.bandwidth() - 12;
      return fits ? lines : [`${name.slice(0, half - 1)}…${name.slice(-half)}`];
    };
    const marks = shown.map((point) => ({ point, x: x(placeOf(view.over, point)) + x.bandwidth() / 2, y: y(placeOf(view.across, point)) + y.bandwidth() / 2 }));
    const cells = (name, chosen, inset) => svg.append("g").attr("class", name).selectAll("rect").data(chosen).enter().append("rect")
      .attr("x", (mark) => mark.x - x.bandwidth() / 2 + inset).attr("y", (mark) => mark.y - y.bandwidth() / 2 + inset)
      .attr("width", x.bandwidth() - 2 * inset).attr("height", y.bandwidth() - 2 * inset);
    cells("filled", marks, 0).attr("fill", (mark) => fill(mark.point));
    // Problems of several sizes are not compared with each other.
    const problemOf = (point) => problemAxes().map((name) => placeOf(name, point));
    const fastest = new Map(best(shown, problemOf).map((point) => [problemOf(point).join(), point]));
    const fastestAt = ({ point }) => fastest.get(problemOf(point).join());
    cells("fastest", marks.filter((mark) => ratio(interval(mark.point), interval(fastestAt(mark))).low <= 1), 2).classed("first", (mark) => fastestAt(mark) === mark.point);
    const digits = d3.format(`,.${Math.max(decimals(isTime ? least : most) - 1, (isTime ? least : most) <= 100 ? 1 : 0)}f`);
    const longest = Math.max(...marks.map(({ point }) => (values[point] === null ? 1 : digits(values[point]).length)));
    if (x.bandwidth() >= 0.85 * PER_LETTER * longest + 2 && y.bandwidth() >= 15) {
      const named = isNamed ? marks : [], most = Math.max(0, ...named.map(({ point }) => nameIn(point).length));
      const top = isNamed ? -4 - (NAME_HEIGHT / 2) * (most - 1) : 4;
      const lines = [[(point) => (values[point] === null ? "–" : digits(values[point]) + "*".repeat(isThrottled({ point }))), top, marks]];
      for (let place = 0; place < most; place++) lines.push([(point) => nameIn(point)[place] ?? "", top + 16 + NAME_HEIGHT * place, named]);
      for (const [text, down, ofLine] of lines) {
        svg.append("g").attr("class", "cells").style("font-size", x.bandwidth() < PER_LETTER * longest + 8 ? "10px" : null).selectAll("text").data(ofLine).enter().append("text").attr("text-anchor", "middle")
          .attr("x", (mark) => mark.x).attr("y", (mark) => mark.y + down).text((mark) => text(mark.point));
      }
    }
    labels(area, across, places, (place) => x(place) + x.bandwidth() / 2, false);
    labels(area, up, upPlaces, (place) => y(place) + y.bandwidth() / 2, true);
    svg.append("text").attr("class", "title").attr("transform", `translate(14,${HEIGHT / 2}) rotate(-90)`).attr("text-anchor", "middle").text(up.title);
    if (least !== undefined) drawKey(area, ends, isTime ? BEST_SHARE : view.show);
    listen(svg, marks, () => Math.max(x.bandwidth(), y.bandwidth()));
    // Where cells have no room for names, the fastest is named below.
    const first = fastest.size === 1 && !isNamed && !drawnAxes().includes(KERNEL) ? `, ${study.names[study.kernel[[...fastest.values()][0]]]}` : "";
    return Object.assign(marks, { start: ends[0], first });
  }

  // A map's colours beside it, or below a narrow one, with round numbers.
  function drawKey(area, limits, name) {
    const isBelow = isNarrow(), left = area.right + 10, top = HEIGHT + LABEL_HEIGHT, low = top + KEY + LABEL_HEIGHT;
    const ends = isBelow ? [area.left, area.right - KEY] : [HEIGHT - MARGIN.bottom, MARGIN.top + LABEL_HEIGHT];
    const at = d3.scaleLinear().domain(limits).range(ends), part = (ends[1] - ends[0]) / SHADES.length;
    const key = area.svg.append("g").attr("class", "shades"), first = (place) => ends[0] + place * part;
    if (isBelow) area.svg.attr("height", low + 24).attr("viewBox", `0 0 ${chart.clientWidth} ${low + 24}`);
    key.selectAll("path").data(SHADES).enter().append("path").attr("stroke", String).attr("stroke-width", KEY)
      .attr("d", (_, place) => (isBelow ? `M${first(place)},${top}h${part + 0.5}` : `M${left + KEY / 2},${first(place)}v${part - 0.5}`));
    const apart = [...limits], least = (isBelow ? 4 : 2) * LABEL_HEIGHT;
    for (const value of d3.ticks(...at.domain(), 5)) if (apart.every((other) => Math.abs(at(value) - at(other)) >= least)) apart.push(value);
    key.selectAll("text").data(apart).enter().append("text").attr("text-anchor", isBelow ? "middle" : "start")
      .attr("x", (value) => (isBelow ? at(value) : left + KEY + 4)).attr("y", (value) => (isBelow ? low - 6 : at(value) + 4))
      .text(number);
    key.append("text").attr("class", "title").attr("x", isBelow ? area.right : left + KEY + KEY_TEXT).attr("y", isBelow ? low + 12 : MARGIN.top)
      .attr("text-anchor", "end").text(titleOf(name));
  }

  // The point under the pointer, or one after another by the arrow keys; a click or Enter keeps its facts.
  function listen(svg, marks, reach) {
    const ring = svg.append("circle").attr("class", "ring").attr("r", 8).style("display", "none");
    let current = -1;
    const point = (place) => {
      current = place;
      if (place < 0) return hideTip();
      ring.style("display", null).attr("cx", marks[place].x).attr("cy", marks[place].y);
      showTip(marks[place]);
    };
    const nearest = (event) => {
      const [x, y] = d3.pointer(event);
      let [found, least] = [-1, reach() ** 2];
      marks.forEach((mark, place) => {
        const distance = (mark.x - x) ** 2 + (mark.y - y) ** 2;
        if (distance < least) [found, least] = [place, distance];
      });
      return found;
    };
    svg.on("pointermove", (event) => point(nearest(event))).on("pointerleave blur", () => { ring.style("display", "none"); hideTip(); })
      .on("click", (event) => { point(nearest(event)); if (current >= 0) showDetails(marks[current].point); })
      .on("keydown", (event) => {
        // Up and down: the next kernel at the same place.
        const columnOf = (mark) => mark?.column ?? mark?.x;
        const there = marks.flatMap((mark, place) => (columnOf(mark) === columnOf(marks[current]) ? [place] : [])).sort((a, b) => marks[b].y - marks[a].y);
        const other = there[there.indexOf(current) + ({ ArrowUp: 1, ArrowDown: -1 }[event.key] ?? NaN)];
        if (other !== undefined) {
          point(other);
          event.preventDefault();
        }
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (step && marks.length) point((current < 0 && step < 0 ? marks.length - 1 : current + step + marks.length) % marks.length);
        if (event.key === "Enter" && current >= 0) showDetails(marks[current].point);
        if (step) event.preventDefault();
      });
  }

  // A point in words: its name, then each fact.
  function facts(point) {
    const places = study.axes.filter(({ name }) => study.at[name][point] >= 0 && !study.tied.some((group) => group.indexOf(name) > 0)).map((axis) => [axis.title, axis.labels[study.at[axis.name][point]]]);
    const rest = Object.entries(study.quantities).filter(([name]) => name !== "time_us" && study.values[name][point] !== null)
      .map(([name, title]) => [title, number(study.values[name][point])]);
    const flags = study.remarks[study.flags[point]];
    const [time, low, high] = [study.values.time_us[point], study.low[point], study.high[point]].map(d3.format(","));
    const ties = view.view === LINES ? drawn.filter(({ point: other }) => other !== point && placeOf(view.over, other) === placeOf(view.over, point) && doTie(interval(other), interval(point))) : [];
    return [
      ["time (µs)", `${time} (95%: ${low}–${high})`],
      ...(ties.length ? [["as fast", ties.map(({ point: other }) => study.names[study.kernel[other]]).join(", ")]] : []),
      ...rest, ...places, ...(flags ? [["flags", flags]] : []),
    ];
  }

  const factList = (point) => create("dl", {}, ...facts(point).map(([name, value]) => create("div", {}, create("dt", { textContent: name }), create("dd", { textContent: value }))));

  function showTip(mark) {
    tip.replaceChildren(create("strong", { textContent: study.names[study.kernel[mark.point]] }), factList(mark.point));
    tip.hidden = false;
    // Of the places beside the mark, and the corners of a chart of one panel, the first that covers the fewest marks.
    const [most, lowest] = [chart.clientWidth - tip.offsetWidth, chart.clientHeight - tip.offsetHeight];
    const around = (at, size) => [at + 16, at - size - 16];
    const places = [[around(mark.x, tip.offsetWidth), around(mark.y, tip.offsetHeight)], ...(view.view === POINTS ? [] : [[[MARGIN.left, most], [MARGIN.top, lowest - MARGIN.bottom]]])]
      .flatMap(([lefts, tops]) => lefts.flatMap((left) => tops.map((top) => [Math.max(0, Math.min(left, most)), Math.max(0, Math.min(top, lowest))])));
    const covered = ([left, top]) => drawn.filter(({ x, y }) => x > left - 8 && x < left + tip.offsetWidth + 8 && y > top - 8 && y < top + tip.offsetHeight + 8).length;
    const [left, top] = places.sort((a, b) => covered(a) - covered(b))[0];
    tip.style.left = `${left}px`;
    tip.style.top = `${top}px`;
  }

  function hideTip() {
    tip.hidden = true;
  }

  // A point's facts below the chart, where they stay.
  function showDetails(point) {
    details.replaceChildren(create("h3", { textContent: study.names[study.kernel[point]] }), factList(point));
    if (isNarrow()) hideTip();
    details.scrollIntoView({ block: "nearest" });
  }

  // The chart as a file of its own: the page's style sheet isn't there, so each mark carries its look.
  function pictureText() {
    const svg = chart.querySelector("svg"), copy = svg.cloneNode(true);
    const originals = svg.querySelectorAll("*");
    copy.querySelectorAll("*").forEach((element, place) => {
      const look = getComputedStyle(originals[place]);
      for (const property of LOOK) element.style[property] = look[property];
    });
    copy.querySelector(".ring")?.remove();
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.style.background = getComputedStyle(document.body).backgroundColor;
    return new XMLSerializer().serializeToString(copy);
  }

  // The drawn points: kernel, a column an axis, the quantities with their units, the time's interval, flags.
  function tableText() {
    const heads = [KERNEL, ...study.axes.map((axis) => axis.name), ...Object.values(study.quantities), "time_low_us", "time_high_us", "flags"];
    const rows = drawn.map(({ point }) => [
      study.kernels[study.kernel[point]], ...study.axes.map((axis) => axis.values[study.at[axis.name][point]] ?? ""),
      ...Object.keys(study.quantities).map((name) => study.values[name][point] ?? ""),
      study.low[point], study.high[point], study.remarks[study.flags[point]],
    ]);
    return `${d3.csvFormatRows([heads, ...rows])}\n`;
  }

  // The chart in pixels, three to each of the screen's.
  async function pixels() {
    const image = new Image(), { clientWidth, clientHeight } = chart.querySelector("svg");
    image.src = `data:image/svg+xml,${encodeURIComponent(pictureText())}`;
    await image.decode();
    const canvas = create("canvas", { width: 3 * clientWidth, height: 3 * clientHeight });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((done) => { canvas.toBlob(done); });
  }

  const FILES = { svg: ["image/svg+xml", pictureText], csv: ["text/csv", tableText], png: ["image/png", pixels] };
  section.querySelectorAll(".save").forEach((button) => button.addEventListener("click", async () => {
    const [type, content] = FILES[button.value], href = URL.createObjectURL(new Blob([await content()], { type }));
    create("a", { href, download: `${view.study}.${button.value}` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 1000);
  }));

  section.querySelector(".pdf")?.addEventListener("click", (event) => {
    const address = location.href.split("#")[0] + ADDRESS + new URLSearchParams(view);
    details.replaceChildren(
      create("p", { textContent: "This draws the view, 3.3 inches wide; its kernels have the labels and colours of the study's file:" }),
      create("pre", { textContent: `${event.target.value} figure --config view='${address}' width=3.3` }),
    );
  });

  const wanted = () => (location.hash.startsWith(ADDRESS) ? Object.fromEntries(new URLSearchParams(location.hash.slice(ADDRESS.length))) : null);
  const follow = () => {
    if (!wanted()) return;
    show(wanted());
    section.scrollIntoView();
  };
  section.classList.add("live");
  // In a frame of another page: report.html?explorer.
  document.body.classList.toggle("framed", location.search === "?explorer");
  show(wanted() ?? {}, false);
  // The explorer has pushed down what the address may lead to.
  (wanted() ? section : document.getElementById(location.hash.slice(1)))?.scrollIntoView();
  addEventListener("hashchange", follow);
  let width = chart.clientWidth;
  new ResizeObserver(() => {
    if (chart.clientWidth !== width) draw();
    width = chart.clientWidth;
  }).observe(chart);
})();
