//! What the components of random programs are made of: groups, conditions and `ref` cells.

/// The groups that each component has. Every one has registers of its own, so that two different
/// ones may run at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    Add,
    StaticAdd,
    Twice,
    StaticTwice,
    /// Counts for the conditions.
    Count,
    StaticCount,
    /// Keeps what was counted so far: tells who was first.
    Keep,
    Multiply,
    /// Runs another group.
    Calls,
    /// Drives `ref` cells, in components that may have some.
    RefAdd,
}

impl Group {
    pub const ALL: [Self; 10] = [
        Self::Add,
        Self::StaticAdd,
        Self::Twice,
        Self::StaticTwice,
        Self::Count,
        Self::StaticCount,
        Self::Keep,
        Self::Multiply,
        Self::Calls,
        Self::RefAdd,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::StaticAdd => "static_add",
            Self::Twice => "twice",
            Self::StaticTwice => "static_twice",
            Self::Count => "count",
            Self::StaticCount => "static_count",
            Self::Keep => "keep",
            Self::Multiply => "multiply",
            Self::Calls => "calls",
            Self::RefAdd => "ref_add",
        }
    }

    /// Its cells and the group itself.
    pub fn text(self) -> (&'static str, &'static str) {
        match self {
            Self::Add => (
                "a = std_reg(8); a_plus = std_add(8);",
                "group add { a_plus.left = a.out; a_plus.right = 8'd1; a.in = a_plus.out; \
                 a.write_en = 1'd1; add[done] = a.done; }",
            ),
            Self::StaticAdd => (
                "b = std_reg(8); b_plus = std_add(8);",
                "static<1> group static_add { b_plus.left = b.out; b_plus.right = 8'd1; \
                 b.in = b_plus.out; b.write_en = 1'd1; }",
            ),
            Self::Twice => (
                "c = std_reg(8); c_first = std_reg(8); c_plus = std_add(8);",
                "group twice { c_plus.left = c.out; c_plus.right = 8'd1; c_first.in = c_plus.out; \
                 c_first.write_en = !c_first.done ? 1'd1; c.in = c_first.out; \
                 c.write_en = c_first.done ? 1'd1; twice[done] = c.done; }",
            ),
            Self::StaticTwice => (
                "d = std_reg(8); d_first = std_reg(8); d_plus = std_add(8);",
                "static<2> group static_twice { d_plus.left = d.out; d_plus.right = 8'd1; \
                 d_first.in = d_plus.out; d_first.write_en = %0 ? 1'd1; d.in = d_first.out; \
                 d.write_en = %1 ? 1'd1; }",
            ),
            Self::Count => (
                "i = std_reg(8); i_plus = std_add(8);",
                "group count { i_plus.left = i.out; i_plus.right = 8'd1; i.in = i_plus.out; \
                 i.write_en = 1'd1; count[done] = i.done; }",
            ),
            Self::StaticCount => (
                "j = std_reg(8); j_plus = std_add(8);",
                "static<1> group static_count { j_plus.left = j.out; j_plus.right = 8'd1; \
                 j.in = j_plus.out; j.write_en = 1'd1; }",
            ),
            Self::Keep => (
                "k = std_reg(8); k_plus = std_add(8); k_odd = std_add(8);",
                "group keep { k_plus.left = i.out; k_plus.right = k_odd.out; k_odd.left = k.out; \
                 k_odd.right = k.out; k.in = k_plus.out; k.write_en = 1'd1; keep[done] = k.done; }",
            ),
            Self::Multiply => (
                "m = std_reg(8); m_times = std_mult_pipe(8);",
                "group multiply { m_times.left = i.out; m_times.right = 8'd3; \
                 m_times.go = !m_times.done ? 1'd1; m.in = m_times.out; \
                 m.write_en = m_times.done ? 1'd1; multiply[done] = m.done; }",
            ),
            Self::Calls => (
                "n = std_reg(8); n_plus = std_add(8);",
                "group called { n_plus.left = n.out; n_plus.right = 8'd1; n.in = n_plus.out; \
                 n.write_en = !n.done ? 1'd1; called[done] = n.done; }\n    \
                 group calls { called[go] = !called[done] ? 1'd1; calls[done] = called[done]; }",
            ),
            Self::RefAdd => (
                "",
                "group ref_add { plus.left = total.out; plus.right = x; total.in = plus.out; \
                 total.write_en = 1'd1; ref_add[done] = total.done; }",
            ),
        }
    }

    /// The register that tells how often it ran.
    pub fn register(self) -> Option<&'static str> {
        match self {
            Self::Add => Some("a"),
            Self::StaticAdd => Some("b"),
            Self::Twice => Some("c"),
            Self::StaticTwice => Some("d"),
            Self::Count => Some("i"),
            Self::StaticCount => Some("j"),
            Self::Keep => Some("k"),
            Self::Multiply => Some("m"),
            Self::Calls => Some("n"),
            Self::RefAdd => None,
        }
    }
}

/// The conditions that each component has: the port, the comb group if it is none that is computed
/// all the time, and what the condition counts by.
pub struct Condition {
    pub port: &'static str,
    pub comb: Option<&'static str>,
    pub counts: &'static [Group],
    pub cells: &'static str,
    pub wires: &'static str,
}

pub const CONDITIONS: [Condition; 4] = [
    Condition {
        port: "few.out",
        comb: Some("is_few"),
        counts: &[Group::Count],
        cells: "few = std_lt(8);",
        wires: "comb group is_few { few.left = i.out; few.right = 8'd3; }",
    },
    Condition {
        port: "less.out",
        comb: Some("is_less"),
        counts: &[Group::StaticCount],
        cells: "less = std_lt(8);",
        wires: "comb group is_less { less.left = j.out; less.right = 8'd2; }",
    },
    Condition {
        port: "any.out",
        comb: Some("is_any"),
        counts: &[Group::Count, Group::StaticCount],
        cells: "any = std_or(1); any_few = std_lt(8); any_less = std_lt(8);",
        wires: "comb group is_any { any.left = any_few.out; any.right = any_less.out; \
                any_few.left = i.out; any_few.right = 8'd2; \
                any_less.left = j.out; any_less.right = 8'd4; }",
    },
    Condition {
        port: "soon.out",
        comb: None,
        counts: &[Group::Count],
        cells: "soon = std_lt(8);",
        wires: "soon.left = i.out; soon.right = 8'd5;",
    },
];

/// A `ref` cell of a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Formal {
    Total,
    Plus,
    Component(usize),
}

impl Formal {
    pub fn name(self) -> String {
        match self {
            Self::Total => "total".to_owned(),
            Self::Plus => "plus".to_owned(),
            Self::Component(component) => format!("formal{component}"),
        }
    }

    pub fn prototype(self) -> String {
        match self {
            Self::Total => "std_reg(8)".to_owned(),
            Self::Plus => "std_add(8)".to_owned(),
            Self::Component(component) => format!("p{component}()"),
        }
    }
}
