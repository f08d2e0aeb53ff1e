//! Closed sets of words: one token per variant, in one table for writers and readers.

/// Defines an enum whose variants each have one token, on tapes and in other machine-readable
/// output.
macro_rules! tokens {
    (
        $(#[$about:meta])*
        pub enum $name:ident {
            $($(#[$doc:meta])* $variant:ident = $token:literal,)+
        }
    ) => {
        $(#[$about])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord,
            serde::Serialize, serde::Deserialize,
        )]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $token)] $variant,)+
        }

        impl $name {
            /// All variants.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The token.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $token,)+
                }
            }

            /// The variant with this token.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($token => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use tokens;
